"""Measuring commands as whole processes, fairly: the contenders take turns, so that a noisy minute hits them all."""

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
    """A command to be measured, with additional environment variables.

    `tree`: it starts others that stay, whose memory counts too. `expected` is the exit status that means success.
    """

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    tree: bool = False
    expected: int = 0


@dataclass(frozen=True)
class Figures:
    """Measurement of a command: seconds of each run, and the peak memory of all runs (MiB)."""

    seconds: tuple[float, ...]
    peak_mib: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def as_dict(self) -> dict[str, float]:
        """Ready for JSON."""
        return {
            "median": round(self.median, 4),
            "min": round(min(self.seconds), 4),
            "max": round(max(self.seconds), 4),
            "peak_mib": round(self.peak_mib, 1),
            "runs": len(self.seconds),
        }


class Failed(Exception):
    """A measured command did not succeed: its time means nothing."""


def take_turns(contenders: Sequence[Contender], runs: int, cwd: Path) -> dict[str, Figures]:
    """Run each contender once unmeasured, then all of them in turn, `runs` times."""
    for contender in contenders:
        once(contender, cwd)
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    peaks: dict[str, float] = dict.fromkeys(seconds, 0.0)
    for _ in range(runs):
        for contender in contenders:
            took, peak = once(contender, cwd)
            seconds[contender.name].append(took)
            peaks[contender.name] = max(peaks[contender.name], peak)
    return {name: Figures(tuple(taken), peaks[name]) for name, taken in seconds.items()}


def once(contender: Contender, cwd: Path) -> tuple[float, float]:
    """(seconds, peak MiB) of one run, by the kernel's own accounting of that child."""
    # Bytecode may be kept, as it is wherever a program is installed: the run that is not measured writes it.
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(
        contender.command,
        cwd=cwd,
        env={**ours, **contender.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with _watched(process.pid) if contender.tree else contextlib.nullcontext([0.0]) as peak:
        # Before wait4: the pipe ends when the process does, and a full one would stop it.
        errors = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stderr:
        process.stderr.close()
    if process.returncode != contender.expected:
        told = errors.decode(errors="replace")[-800:]
        raise Failed(f"{' '.join(contender.command)} ended with {process.returncode}: {told}")
    return took, max(usage.ru_maxrss / 1024, peak[0])


@contextlib.contextmanager
def _watched(pid: int) -> Iterator[list[float]]:
    """The most memory that a process and all below it held at one moment (MiB), seen every 20 ms."""
    peak, ended = [0.0], threading.Event()

    def look() -> None:
        while not ended.wait(_POLL_SECONDS):
            peak[0] = max(peak[0], sum(_resident(one) for one in _tree(pid)))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _tree(pid: int) -> Iterator[int]:
    """A process and its descendants; processes that end meanwhile are left out."""
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                    yield from _tree(int(child))


def _resident(pid: int) -> float:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_MIB
    return 0.0
