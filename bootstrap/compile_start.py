"""Keep the bytecode of what every command starts with, and the parsed catalogue: `.venv/bin/python bootstrap/compile_start.py`.

uv leaves none, and where Python may not write any (a read-only checkout, PYTHONDONTWRITEBYTECODE) each start would compile
all of it again, which is more than half of a short command's time. Whatever is not here is compiled when it is first used.
"""

import compileall
import importlib.util
import sys
from pathlib import Path

START = (
    "landbridge", "pydantic", "pydantic_core", "annotated_types", "typing_inspection", "typing_extensions",
    "typer", "annotated_doc", "yaml", "rich",
)  # fmt: skip


def main() -> None:
    """Compile what has changed since; what cannot be written is left."""
    for name in START:
        spec = importlib.util.find_spec(name)
        if spec and spec.submodule_search_locations:
            for folder in spec.submodule_search_locations:
                compileall.compile_dir(folder, quiet=2)
        elif spec and spec.origin:
            compileall.compile_file(spec.origin, quiet=2)
    _keep_catalogue()


def _keep_catalogue() -> None:
    """Parse the catalogue's files, so that `landbridge check` does not."""
    from landbridge.catalog.files import package
    from landbridge.catalog.parsed import parsed

    sys.dont_write_bytecode = False
    folder = package()
    for path in sorted(folder.rglob("*.yaml") if isinstance(folder, Path) else ()):
        parsed(path)


if __name__ == "__main__":
    main()
