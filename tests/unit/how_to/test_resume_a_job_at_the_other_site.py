"""docs/how-to/resume-a-job-at-the-other-site.md: its program, interrupted at one site and continued at the other one."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.checkpoints_of_jobs.conftest import Hub, cloud, emulator, hub  # noqa: F401
from tests.unit.how_to.pages import ROOT, steps, write

PAGE = ROOT / "docs/how-to/resume-a-job-at-the-other-site.md"


@pytest.fixture
def page_folder(tmp_path: Path) -> Path:
    """Return a folder after the page's steps before `sbatch`."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    for step in steps(PAGE):
        if step.file is not None:
            write(step, folder)
        elif step.command is not None and not step.command.startswith("sbatch"):
            subprocess.run(["bash", "-c", step.command], cwd=folder, check=True)
    return folder


def job(hub: Hub, folder: Path, site: str, restarts: int) -> "subprocess.Popen[str]":  # noqa: F811
    """Start the page's batch script in a copy of the folder at a site; srun runs the program."""
    at_site = shutil.copytree(folder, hub.folder / site / str(restarts), symlinks=True)
    (at_site / "srun").write_text('#!/bin/sh\nshift\nexec "$@"\n')
    (at_site / "srun").chmod(0o755)
    path = {"PATH": f"{at_site}:{os.environ['PATH']}", "LANDBRIDGE_PYTHON": sys.executable}
    words = {**path, **hub.environ(restarts), "SCRATCH": str(at_site / "scratch")}
    return subprocess.Popen(["bash", "train.sbatch"], cwd=at_site, env=words, stdout=subprocess.PIPE, text=True)


def test_the_program_of_the_page_continues_at_the_other_site(hub: Hub, page_folder: Path) -> None:  # noqa: F811
    program = page_folder / "train.py"
    complete = program.read_text()
    # The first start ends itself without warning after its second checkpoint was sent.
    kill = "        if step == 7:\n            store.finish(60)\n            import os\n            os.kill(os.getpid(), 9)\n"
    program.write_text(complete.replace("        if stop.requested:\n", f"{kill}        if stop.requested:\n"))
    first = job(hub, page_folder, "onprem", 0)
    first_output, _ = first.communicate()
    assert first.returncode == -signal.SIGKILL, first_output
    program.write_text(complete)
    second = job(hub, page_folder, "aws", 1)
    second_output, _ = second.communicate()
    assert second.returncode == 0 and "(step 6) from the bucket" in second_output
    assert re.findall(r"^step (\d+)", second_output, re.MULTILINE) == [str(step) for step in range(7, 13)]
    # The line that the page shows is that of the program, and so is the name of the run.
    shown = re.findall(r"^step 7 weight=\S+", PAGE.read_text(), re.MULTILINE)
    assert len(shown) == 1 and shown[0] in second_output.splitlines()
    latest = hub.s3.list_objects_v2(Bucket="acme-internal-123456789012", Prefix="vision/acme-7/latest.json")
    assert latest["KeyCount"] == 1


def test_the_messages_of_the_page_exist() -> None:
    code = "".join(path.read_text() for path in (ROOT / "examples/checkpoints/landbridge_checkpoints").glob("*.py"))
    table = PAGE.read_text().partition("## Messages")[2]
    messages = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    assert len(messages) == 8 and [message for message in messages if message not in code] == []
