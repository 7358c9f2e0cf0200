"""Early download of the nodes' Python packages: a process beside steps that need the processor but no network."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import wheelhouse
from sandbox.nspawn.layout import layout

_ROOT = Path(__file__).resolve().parents[3]
_PR_SET_PDEATHSIG = 1


@contextmanager
def early_download() -> Iterator[None]:
    """Download beside the body; what is not downloaded at its end is given up.

    In the body `wheelhouse.ensure` waits for this download, and repeats it if it failed, with the reason.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=_ROOT,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()


def main() -> int:
    """Download the packages; end with the parent process."""
    signal.signal(signal.SIGTERM, _stop)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    try:
        wheelhouse.ensure(layout(), wheelhouse.locks(_ROOT))
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _stop(number: int, frame: FrameType | None) -> None:
    # The processes of pip are in this group, which has no other members.
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
