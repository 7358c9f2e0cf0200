"""Processes by id *and* start time: a pid file left by a crash never refers to a later process with the same pid."""

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """Identity of a process: its pid and start time, since a pid is reused."""

    pid: int
    started: int

    def alive(self) -> bool:
        return start_time(self.pid) == self.started

    def signal(self, number: signal.Signals) -> None:
        if self.alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def wait(self, seconds: float) -> bool:
        """Wait for the process to end; return False if it still runs after `seconds`."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def start_time(pid: int) -> int | None:
    """Return the clock ticks from the machine's boot to the process's start; None for no such process or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def identify(pid: int) -> Process | None:
    started = start_time(pid)
    return None if started is None else Process(pid, started)


def write_pid_file(path: Path, pid: int) -> None:
    process = identify(pid)
    if process is not None:
        temporary = path.with_name(path.name + ".new")
        temporary.write_text(json.dumps({"pid": process.pid, "started": process.started}))
        temporary.replace(path)


def read_pid_file(path: Path) -> Process | None:
    """Return the running process of a pid file, else None."""
    try:
        content = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    process = Process(int(content["pid"]), int(content["started"]))
    return process if process.alive() else None


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid: int) -> list[Process]:
    """Return the direct children of a process."""
    identified = (identify(child) for child in all_pids() if parent_of(child) == pid)
    return [process for process in identified if process is not None]


def end(process: Process | None, grace: float = 5) -> None:
    """Send SIGTERM to a process, and SIGKILL after `grace` seconds."""
    if process is None:
        return
    process.signal(signal.SIGTERM)
    if not process.wait(grace):
        process.signal(signal.SIGKILL)
        process.wait(5)
