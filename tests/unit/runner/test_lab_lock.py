"""Lock of the lab: one checkout at a time uses it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.runner import lab_lock

ROOT = Path(__file__).resolve().parents[3]

HOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.runner import lab_lock
with lab_lock.held(Path({file!r}), Path("/other/checkout"), print):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_second_checkout_waits_for_the_lab_and_names_its_user(tmp_path: Path) -> None:
    file, output = tmp_path / "tests.lock", []
    program = HOLDER.format(root=str(ROOT), file=str(file))
    other = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert other.stdin is not None and other.stdout is not None and other.stdout.readline() == "held\n"

    def say(message: str) -> None:
        output.append(message)
        other.communicate("end\n")

    with lab_lock.held(file, ROOT, say) as is_held:
        assert is_held
        assert file.read_text() == f"{ROOT} (process {os.getpid()})\n"
    assert output == [
        f"the lab is in use by the tests of /other/checkout (process {other.pid}); waiting until they end"
    ]


def test_a_waiting_checkout_can_be_ended(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "tests.lock"
    stop = threading.Event()
    monkeypatch.setattr(lab_lock, "STOP", stop)
    with lab_lock.held(file, ROOT, print), lab_lock.held(file, ROOT, lambda _: stop.set()) as is_held:
        assert not is_held
