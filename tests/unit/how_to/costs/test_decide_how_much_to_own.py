"""docs/how-to/decide-how-much-to-own.md: its command prints the page's output, sacct's and spot's lines are accepted."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.unit.how_to.pages import ROOT, run, steps

PAGE = ROOT / "docs" / "how-to" / "decide-how-much-to-own.md"
SHARED = ROOT.parent / "shared"


def test_the_page_shows_what_its_command_prints(tmp_path: Path) -> None:
    if not (SHARED / "data" / "philly.csv").is_file():
        pytest.skip(f"{SHARED}/data/philly.csv does not exist: it is not part of the checkout")
    (tmp_path / "shared").symlink_to(SHARED)
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "stacks").symlink_to(ROOT / "stacks")
    (step,) = (step for step in steps(PAGE) if step.command)
    done = run(f"PYTHONPATH={ROOT} {step.command}", folder)
    assert done.returncode == 0, done.stdout
    assert done.stdout.rstrip() == step.output.rstrip()


def test_the_other_commands_of_the_page_run(tmp_path: Path) -> None:
    """Run the export with a sacct that prints two jobs, and the command with spot instances on its file."""
    export, spot = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    header = shlex.split(export)[shlex.split(export).index("--starttime=now-90days") + 1].removeprefix("--format=")
    rows = [
        header.replace(",", "|"),
        "1|ann|vision|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T00:00:00|COMPLETED|36000|2|gres/gpu:h100=16,gres/gpu=16|gres/gpu=16",
        "2|ann|vision|2026-10-31T00:00:10|2026-10-31T00:00:10|2026-10-31T00:00:10|COMPLETED|600|1|cpu=8,gres/gpu=8|gres/gpu=8",
    ]
    sacct = tmp_path / "sacct"
    sacct.write_text("#!/bin/sh\nprintf '%s\\n' " + " ".join(f"'{row}'" for row in rows))
    sacct.chmod(0o755)
    (tmp_path / "stacks").symlink_to(ROOT / "stacks")
    path = {"PATH": f"{tmp_path}:/usr/local/bin:/usr/bin:/bin"}
    subprocess.run(["bash", "-c", export], cwd=tmp_path, check=True, env=path)
    done = run(f"PYTHONPATH={ROOT} {spot}", tmp_path)
    assert done.returncode == 0 and "2 jobs, 160 GPU hours" in done.stdout, done.stdout


def test_it_is_found_from_the_index() -> None:
    assert "how-to/decide-how-much-to-own.md" in (ROOT / "docs" / "index.md").read_text()
