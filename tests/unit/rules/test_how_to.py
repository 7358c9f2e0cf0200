"""docs/how-to/add-a-rule.md, followed literally in a copy of the checkout."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "how-to" / "add-a-rule.md"
COPIED = ("ansible", "landbridge", "sandbox", "components", "tests", "docs", "stacks")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the folders that the page uses; its `.venv` runs the copy."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Pulumi.yaml", "pytest.ini", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    script(tools / "python", '"$@"', tmp_path)
    script(tools / "landbridge", '-m landbridge.cli.main "$@"', tmp_path)
    return tmp_path


def script(path: Path, arguments: str, root: Path) -> None:
    """Write a program that runs this Python with the copy first in its module path."""
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" {arguments}\n')
    path.chmod(0o755)


def test_the_page_can_be_followed(copy: Path) -> None:
    text = PAGE.read_text()
    files = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.DOTALL)
    commands = re.findall(r"<!-- run -->\n```sh\n(.*?)```", text, re.DOTALL)
    assert len(files) == 2 and len(commands) == 1
    for name, content in files:
        assert not (copy / name).exists(), "the page's example is a new file"
        (copy / name).write_text(content)
    outputs = []
    for command in commands[0].strip().splitlines():
        done = subprocess.run(["sh", "-c", command], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        outputs.append(done.stdout)
    tests, _, explained = outputs
    assert re.search(r"\b3 passed", tests), tests
    for part in (
        "A name alone cannot receive a message.",
        'our operations handbook, "On call".',
        '"Alice" is not an e-mail address',
    ):
        assert part in explained
    assert "a name as owner" in (copy / "docs" / "reference" / "mistakes.md").read_text()
