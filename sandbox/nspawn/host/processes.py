"""Processes by id *and* start time: a pid file left by a crash can never hit a stranger that got the same number."""

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process identity that survives the reuse of its number."""

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
        """True as soon as the process is gone, False when it outlives the wait."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def start_time(pid: int) -> int | None:
    """Clock ticks between the machine's boot and the process's start; None for no such process and for a zombie."""
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
    """The live process a pid file names, else None."""
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
    """The direct children of a process."""
    found = (identify(child) for child in all_pids() if parent_of(child) == pid)
    return [process for process in found if process is not None]


def end(process: Process | None, grace: float = 5) -> None:
    """Ask a process to end, and insist after `grace` seconds."""
    if process is None:
        return
    process.signal(signal.SIGTERM)
    if not process.wait(grace):
        process.signal(signal.SIGKILL)
        process.wait(5)
