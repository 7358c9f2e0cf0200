"""Shorten the start of Mitogen, which otherwise takes two seconds of a processor in each run of ansible-playbook.

Mitogen looks for the imports of each module that it sends to a node, and of all modules that these import: it compiles
hundreds of modules in each run. Here the imports of a text that was compiled before are read from a file. Mitogen also removes
comments from the modules that it sends, which takes longer than to send them. Neither changes the code that a node runs.
"""

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import ansible_mitogen.module_finder
import mitogen.core
import mitogen.imports
import mitogen.master
import mitogen.minify

from landbridge.paths import cache_dir

#: Number of leading dots, name of the module, names that are imported from it.
Import = tuple[int, str, tuple[str, ...]]
_FOLDER = str(cache_dir("imports"))
_read_imports = mitogen.imports.codeobj_imports


def imports(source: str | bytes, name: str, mode: str) -> list[Import]:
    """Return the imports of a text, from a file if they were read before; takes the arguments of `compile`."""
    text = source.encode() if isinstance(source, str) else source
    path = f"{_FOLDER}/{hashlib.sha256(text).hexdigest()}"
    with contextlib.suppress(OSError, ValueError), open(path) as file:
        return [(level, module, tuple(names)) for level, module, names in json.load(file)]
    listed = list(_read_imports(compile(source, name, mode)))
    # Another run may write the same file: it appears whole or not at all.
    with contextlib.suppress(OSError), tempfile.NamedTemporaryFile("w", dir=_FOLDER, delete=False) as new:
        new.write(json.dumps(listed))
        new.flush()
        Path(new.name).rename(path)
    return listed


def use() -> None:
    """Let Mitogen use the files, in this process and those that it forks."""
    # Both modules call `compile` only to read the imports. A global of this name is found before the builtin function.
    ansible_mitogen.module_finder.compile = imports
    mitogen.master.compile = imports
    mitogen.imports.codeobj_imports = _listed
    mitogen.minify.minimize_source = mitogen.core.to_text


def _listed(listed: list[Import]) -> Iterator[Import]:
    return iter(listed)
