"""Files of a folder with a lab of its own share one process, and so one bring-up; other files are spread."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
CONFTEST = "from tests.runner.spread import scheduler\n\n\ndef pytest_xdist_make_scheduler(config, log):\n    return scheduler(config, log)\n"
# A bring-up of the lab writes a line; so does every file, with the process in which it ran.
LAB = """import os
import pathlib

import pytest

RECORD = pathlib.Path(__file__).parents[1] / "record"


@pytest.fixture(scope="package")
def host():
    with RECORD.open("a") as file:
        file.write(f"up {os.getpid()}\\n")
    yield
    with RECORD.open("a") as file:
        file.write(f"down {os.getpid()}\\n")
"""
TEST = "import pytest\n\n\n@pytest.mark.parametrize('number', range(20))\ndef test_number(host, number):\n    assert number >= 0\n"


def test_files_of_one_lab_share_its_bring_up(tmp_path: Path) -> None:
    texts = {"conftest.py": CONFTEST, "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n"}
    for folder in ("first_servers", "second_servers"):
        names = {
            "__init__.py": "",
            "lab.py": "",
            "conftest.py": LAB,
            "test_access.py": TEST,
            "test_maintenance.py": TEST,
        }
        texts.update({f"{folder}/{name}": text for name, text in names.items()})
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    words = ["-n", "2", "--dist=loadfile", "--no-loadscope-reorder", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert "80 passed" in done.stdout, done.stdout + done.stderr
    record = (tmp_path / "record").read_text().split("\n")[:-1]
    assert sorted(line.partition(" ")[0] for line in record) == ["down", "down", "up", "up"], record
