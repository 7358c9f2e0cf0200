"""Folder for PATH: the plugins as programs with an absolute interpreter path, and the engine."""

import os
import sys
import tempfile
from pathlib import Path

from sandbox.pulumi_provider.engine.find import Engine

#: Program name and the module that it runs.
PLUGINS = {
    "pulumi-resource-aws": "sandbox.pulumi_provider.provider",
    "pulumi-language-python": "sandbox.pulumi_provider.language",
}

_SCRIPT = """#!{interpreter}
import os

parent = os.getppid()
from sandbox.pulumi_provider.prefork_client import run_in_server

if not run_in_server("{module}", parent):
    from {module} import main

    main(parent)
"""


def write_scripts(folder: Path, engine: Engine | None = None) -> Path:
    """Create or update the folder, and return it. Safe to call while its programs run."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in PLUGINS.items():
        # The parent's id is read before the slow imports: an engine killed during the imports is then detected.
        text = _SCRIPT.format(interpreter=sys.executable, module=module)
        _write(folder / name, text, 0o755)
    if engine is not None and engine.origin != "path":
        link = folder / f".pulumi.{os.getpid()}"
        link.unlink(missing_ok=True)
        link.symlink_to(engine.program)
        link.replace(folder / "pulumi")
    return folder


def _write(path: Path, text: str, mode: int) -> None:
    if path.is_file() and path.read_text() == text:
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.chmod(name, mode)
    os.replace(name, path)
