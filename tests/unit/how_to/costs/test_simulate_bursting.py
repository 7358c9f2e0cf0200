"""docs/how-to/simulate-bursting.md: its command prints the page's output, its picture is of that run, sacct's line is read."""

import re
import subprocess
from pathlib import Path

import pytest

from landbridge.trace import TraceJob, read
from tests.unit.how_to.pages import ROOT, run, steps
from tests.unit.simulation.queues import START

PAGE = ROOT / "docs" / "how-to" / "simulate-bursting.md"
SHARED = ROOT.parent / "shared"


def test_the_page_shows_what_its_command_prints_and_draws(tmp_path: Path) -> None:
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
    assert (folder / "philly.svg").read_text() == (PAGE.parent / "simulate-bursting.svg").read_text(), (
        f"{step.command.replace('philly.svg', 'docs/how-to/simulate-bursting.svg')}"
    )


def test_what_the_page_makes_of_sacct_is_a_queue(tmp_path: Path) -> None:
    rows = [
        "JobIDRaw|User|Account|Submit|Eligible|Start|State|ElapsedRaw|TimelimitRaw|NNodes|AllocTRES|ReqTRES",
        "1|ann|vision|2017-10-30T00:00:00|2017-10-30T00:00:00|2017-10-30T00:00:00|COMPLETED|600|60|1|billing=8,gres/gpu:h100=8,gres/gpu=8|gres/gpu=8",
        "2|ann|vision|2017-10-30T00:00:10|2017-10-30T00:00:10|2017-10-30T00:00:10|COMPLETED|600|60|1|billing=8,cpu=8,node=1|cpu=8",
    ]
    sacct = tmp_path / "sacct"
    sacct.write_text("#!/bin/sh\nprintf '%s\\n' " + " ".join(f"'{row}'" for row in rows))
    sacct.chmod(0o755)
    match = re.search(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    path = {"PATH": f"{tmp_path}:/usr/local/bin:/usr/bin:/bin"}
    subprocess.run(["bash", "-c", match[1]], cwd=tmp_path, check=True, env=path)
    trace = read(tmp_path / "queue.txt")
    assert trace.findings == () and trace.jobs == (
        TraceJob(START, 600.0, 8, "ann", "vision", 60.0, "h100", "ann", "1", START, 1, "COMPLETED", START),
    )


def test_it_is_found_from_the_index() -> None:
    assert "how-to/simulate-bursting.md" in (ROOT / "docs" / "index.md").read_text()
