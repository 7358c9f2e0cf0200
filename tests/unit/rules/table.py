"""Every row of every rows_*.py, in this folder and in the live rules' one."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.unit.rules.row import Elsewhere, Row

FOLDERS = {"tests.unit.rules": Path(__file__).parent, "tests.unit.live": Path(__file__).parents[1] / "live"}


def rows() -> list[Row]:
    """What `landbridge check` finds, in the order of the files' names and of the rows in them."""
    return [row for row in _all() if isinstance(row, Row)]


def elsewhere() -> list[Elsewhere]:
    """What something else finds, or nobody can write."""
    return [row for row in _all() if isinstance(row, Elsewhere)]


def _all() -> Iterator[Any]:
    for package, folder in FOLDERS.items():
        for path in sorted(folder.glob("rows_*.py")):
            yield from import_module(f"{package}.{path.stem}").ROWS
