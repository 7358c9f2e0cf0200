"""docs/how-to/add-a-component.md, followed literally in a copy of the checkout."""

import re
import subprocess
from pathlib import Path

from tests.unit.how_to.pages import ROOT, copy_of_the_checkout, run, steps, write

PAGE = ROOT / "docs/how-to/add-a-component.md"
DIFF = re.compile(r"```diff\n(.*?)```", re.DOTALL)
TABLE_ROW = re.compile(r"^\| (?!file |---)", re.MULTILINE)


def test_the_page_works_as_it_is_written(tmp_path: Path) -> None:
    text = PAGE.read_text()
    page_steps = list(steps(PAGE))
    new_files = [step for step in page_steps if step.file]
    diffs = DIFF.findall(text)
    edited_files = sum(diff.count("\n+++ ") for diff in diffs)
    assert len(TABLE_ROW.findall(text)) <= 7, "a component with one resource needs at most seven hand-written files"
    assert (len(new_files), edited_files) == (4, 1)
    folder = copy_of_the_checkout(tmp_path)
    for diff in diffs:
        applied = subprocess.run(
            ["git", "apply", "-"], cwd=folder, input=diff, capture_output=True, text=True, check=False
        )
        assert applied.returncode == 0, applied.stderr
    for step in new_files:
        write(step, folder)
    for step in page_steps:
        if step.command is not None:
            done = run(step.command, folder)
            assert done.returncode == 0, f"{step.command}\n{done.stdout[-4000:]}"
    assert " 1 landbridge:components:JobLogs" in (folder / "tests/graph/golden/sandbox.txt").read_text()
    assert "## JobLogs" in (folder / "docs/reference/components.md").read_text()
