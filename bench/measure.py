"""Measuring commands as whole processes, fairly: the contenders take turns, so that a noisy minute hits them all."""

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Contender:
    """A command to be measured."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Figures:
    """What a contender took: seconds of each run, and the most memory any run held (MiB)."""

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
        _once(contender, cwd)
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    peaks: dict[str, float] = dict.fromkeys(seconds, 0.0)
    for _ in range(runs):
        for contender in contenders:
            took, peak = _once(contender, cwd)
            seconds[contender.name].append(took)
            peaks[contender.name] = max(peaks[contender.name], peak)
    return {name: Figures(tuple(taken), peaks[name]) for name, taken in seconds.items()}


def _once(contender: Contender, cwd: Path) -> tuple[float, float]:
    """(seconds, peak MiB) of one run, by the kernel's own accounting of that child."""
    environ: Mapping[str, str] = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    began = time.perf_counter()
    process = subprocess.Popen(
        contender.command,
        cwd=cwd,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    # Before wait4: the pipe ends when the process does, and a full one would stop it.
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stderr:
        process.stderr.close()
    if process.returncode != 0:
        raise Failed(
            f"{' '.join(contender.command)} ended with {process.returncode}: {errors.decode(errors='replace')[-500:]}"
        )
    return took, usage.ru_maxrss / 1024
