"""Table of all rows: those of every rows_*.py in this folder, in its subfolders and in the folder of the live rules."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.unit.rules.row import NotChecked, Row

FOLDERS = {"tests.unit.rules": Path(__file__).parent, "tests.unit.live": Path(__file__).parents[1] / "live"}


def checked_rows() -> list[Row]:
    """Return the mistakes that `landbridge check` finds, in the order of the files' paths and of the rows in them."""
    return [row for row in _all() if isinstance(row, Row)]


def not_checked() -> list[NotChecked]:
    """Return the mistakes that `landbridge preflight` finds, or that the file has no key for."""
    return [row for row in _all() if isinstance(row, NotChecked)]


def _all() -> Iterator[Any]:
    for package, folder in FOLDERS.items():
        for path in sorted(folder.rglob("rows_*.py")):
            module = ".".join((package, *path.relative_to(folder).with_suffix("").parts))
            yield from import_module(module).ROWS
