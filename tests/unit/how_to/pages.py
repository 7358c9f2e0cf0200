"""Parser of how-to pages, and functions that write their files and run their commands in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_COPIED = ("landbridge", "components", "ansible", "sandbox", "stacks", "tests", "docs", "examples")
_FILES = ("pyproject.toml", "pytest.ini", "ruff.toml", "mypy.ini", "Pulumi.yaml", "README.md", "Makefile")
_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+)(?P<more> append)? -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Step:
    """File to write or to append to, or command with the output that the page shows."""

    file: str | None = None
    append: bool = False
    text: str = ""
    command: str | None = None
    output: str = ""


def steps(page: Path) -> Iterator[Step]:
    """Yield the commands and files of a page, in its order."""
    for block in _BLOCK.finditer(page.read_text()):
        if block["file"]:
            yield Step(file=block["file"], append=bool(block["more"]), text=block["text"])
        elif block["kind"] == "console":
            for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Step(command=command, output=output)


def copy_of_the_checkout(folder: Path) -> Path:
    """Copy the parts of the checkout that a page uses, and return their folder."""
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(".cache", ".venv", "node_modules"))
    for name in _FILES:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, folder / name)
    return folder


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the copy, with this Python's programs and the copy's packages."""
    search = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(folder)}
    environment = {**os.environ, **search, "COLUMNS": "200"}
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A guard against a hang, below that of pytest: the machine may be busy.,
    )


def write(step: Step, folder: Path) -> None:
    """Write the file of a step."""
    assert step.file is not None
    path = folder / step.file
    before = path.read_text() if step.append else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before + step.text)
