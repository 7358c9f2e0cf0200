"""Parsed data of the catalogue's files, kept beside them in `__pycache__` as Python keeps bytecode.

A kept file is used only if its digest is that of the YAML text, the parser and the data. Only a user who may change this
package can write one; for all others, the text is parsed each time.
"""

import contextlib
import hashlib
import marshal
import os
import sys
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import yaml

from landbridge import yaml_text

_DIGEST_BYTES = 32


def parsed(path: Path) -> Any:
    """Return the plain data of a YAML file. Raises OSError and yaml_text.BadYaml."""
    text = path.read_bytes()
    stored = data_file(path)
    content = _read(stored)
    digest, dumped = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if dumped and digest == _digest(text, dumped):
        return marshal.loads(dumped)
    data = yaml_text.load(text.decode())
    if not sys.dont_write_bytecode:
        dumped = marshal.dumps(data)
        _write(stored, _digest(text, dumped) + dumped)
    return data


def data_file(path: Path) -> Path:
    """Return the file for the data of a YAML file: `__pycache__/gpus.yaml.cpython-311.data`, or in PYTHONPYCACHEPREFIX."""
    return Path(cache_from_source(f"{path}.py")).with_suffix(".data")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _write(file: Path, content: bytes) -> None:
    """Replace the file at once, so that no other process reads a part of it. Without permission, do nothing."""
    new = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.write_bytes(content)
            new.replace(file)
        except OSError:
            new.unlink(missing_ok=True)


def _digest(text: bytes, dumped: bytes) -> bytes:
    digest = hashlib.sha256(_parser())
    digest.update(hashlib.sha256(text).digest())
    digest.update(dumped)
    return digest.digest()


@cache
def _parser() -> bytes:
    """Return the digest of all that determines the data of a text: our parser and PyYAML's version."""
    source = Path(yaml_text.__file__).read_bytes()
    return hashlib.sha256(yaml.__version__.encode() + b"\n" + source).digest()
