"""Leftover processes of the embedded demonstration, found by a variable in their environment, never by name.

`python -m sandbox.embedded.leftovers` terminates them; `make down` runs it after a crash.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from landbridge.paths import state_dir
from sandbox.demo.report import DemoError
from sandbox.nspawn.host.processes import Process, all_pids, end, identify

#: Every process of the demonstration inherits this variable; its value is the demonstration's folder.
MARK = "LANDBRIDGE_EMBEDDED"


def find(folder: Path) -> list[Process]:
    """Return the running processes of a demonstration in `folder`, except the caller."""
    mark = f"{MARK}={folder}".encode()
    processes = []
    for pid in all_pids():
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or belongs to another user
            continue
        if mark in variables and pid != os.getpid() and (process := identify(pid)) is not None:
            processes.append(process)
    return processes


def end_all(folder: Path) -> int:
    """Terminate the processes; return their number. Repeat up to five times, since parents restart their children."""
    count = 0
    for _ in range(5):
        processes = find(folder)
        if not processes:
            break
        count += len(processes)
        for process in processes:
            end(process, grace=3)
    return count


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Run one demonstration at a time: terminate processes of a crashed one, and mark the processes of this one."""
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise DemoError("an embedded demonstration is running already", "wait for it, or stop it") from None
        end_all(folder)
        os.environ[MARK] = str(folder)
        try:
            yield
        finally:
            del os.environ[MARK]
            end_all(folder)


def main() -> int:
    """Terminate leftover processes and print their number."""
    count = end_all(state_dir("embedded"))
    if count:
        print(f"ended {count} processes that an embedded demonstration had left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
