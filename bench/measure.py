"""Measurement of commands as whole processes. The contenders take turns, so that other load affects all of them."""

import contextlib
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_POLL_SECONDS = 0.02
_PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True)
class Contender:
    """Command to be measured, with additional environment variables.

    `tree`: the memory of its child processes counts too. `expected` is the exit status that means success.
    """

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    tree: bool = False
    expected: int = 0


@dataclass(frozen=True)
class Figures:
    """Measurement of a command: seconds and processor seconds of each run, and the peak memory of all runs (MiB)."""

    seconds: tuple[float, ...]
    processor_seconds: tuple[float, ...]
    peak_mib: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def processor_median(self) -> float:
        return statistics.median(self.processor_seconds)

    def as_dict(self) -> dict[str, float]:
        """Return the rounded figures as values for JSON."""
        return {
            "median": round(self.median, 4),
            "processor_median": round(self.processor_median, 4),
            "min": round(min(self.seconds), 4),
            "max": round(max(self.seconds), 4),
            "peak_mib": round(self.peak_mib, 1),
            "runs": len(self.seconds),
        }


@dataclass(frozen=True)
class Run:
    """One run of a command: its seconds, its processor seconds (user and system), and its peak memory (MiB)."""

    seconds: float
    processor_seconds: float
    peak_mib: float


class Failed(Exception):
    """Measured command that did not succeed, so that its time is not usable."""


def take_turns(contenders: Sequence[Contender], runs: int, cwd: Path) -> dict[str, Figures]:
    """Run each contender once unmeasured, then all of them in turn, `runs` times."""
    for contender in contenders:
        once(contender, cwd)
    done: dict[str, list[Run]] = {contender.name: [] for contender in contenders}
    for _ in range(runs):
        for contender in contenders:
            done[contender.name].append(once(contender, cwd))
    return {
        name: Figures(
            tuple(run.seconds for run in of_one),
            tuple(run.processor_seconds for run in of_one),
            max((run.peak_mib for run in of_one), default=0.0),
        )
        for name, of_one in done.items()
    }


def once(contender: Contender, cwd: Path) -> Run:
    """Measure one run, with the kernel's accounting of the child process and of the children it waited for."""
    # Bytecode is written, as in an installation: by the first run, which is not measured.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(
        contender.command,
        cwd=cwd,
        env={**inherited, **contender.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with _watched(process.pid, contender.tree) as peak:
        # Before wait4: the pipe closes when the process ends, and a full pipe would block it.
        errors = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stderr:
        process.stderr.close()
    if process.returncode != contender.expected:
        message = errors.decode(errors="replace")[-800:]
        raise Failed(f"{' '.join(contender.command)} ended with {process.returncode}: {message}")
    return Run(took, usage.ru_utime + usage.ru_stime, peak[0])


@contextlib.contextmanager
def _watched(pid: int, tree: bool) -> Iterator[list[float]]:
    """Yield a list that holds the peak memory of a process, or of it and its descendants together (MiB), by samples.

    The value of wait4 begins with this process's own memory, which is larger than that of a small program.
    """
    peak, ended = [0.0], threading.Event()

    def sample() -> None:
        while not ended.wait(_POLL_SECONDS if tree else _POLL_SECONDS / 4):
            resident = sum(_resident(process) for process in _tree(pid)) if tree else 0.0
            peak[0] = max(peak[0], resident, _peak(pid))

    watcher = threading.Thread(target=sample, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _tree(pid: int) -> Iterator[int]:
    """Yield the ids of a process and its descendants; processes that end in the meantime are omitted."""
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                    yield from _tree(int(child))


def _peak(pid: int) -> float:
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return 0.0


def _resident(pid: int) -> float:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_MIB
    return 0.0
