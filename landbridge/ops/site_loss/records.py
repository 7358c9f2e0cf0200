"""Records of a drill or a recovery: one line for each beginning and end of a step, in a file that survives a kill.

A line is written before a step begins and after it has ended, and reaches the disk before the next action. A step with a
beginning alone was interrupted and is repeated.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Event = Literal["declared", "began", "ended", "failed"]


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Times of a step: `seconds` of its last attempt, None if that has no end; `elapsed` from its first beginning to its end."""

    attempts: int
    seconds: float | None
    elapsed: float | None
    ended_at: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "attempts": self.attempts,
            "seconds": self.seconds,
            "elapsed": self.elapsed,
            "ended_at": self.ended_at,
        }


@dataclass(frozen=True)
class Progress:
    """Records of one direction, oldest first. `declared_at`: the time of the loss, or of the decision to return."""

    records: tuple[Mapping[str, Any], ...] = ()

    @property
    def declared_at(self) -> float | None:
        """Return the time from which the recovery time counts."""
        return next((float(each["at"]) for each in self.records if each["event"] == "declared"), None)

    @property
    def done(self) -> frozenset[str]:
        """Return the names of steps that have ended."""
        return frozenset(each["step"] for each in self.records if each["event"] == "ended")

    @property
    def point_at(self) -> float | None:
        """Return the time of the newest dump that was restored: later changes are lost."""
        points = [each["data_of"] for each in self.records if each.get("data_of") is not None]
        return float(points[-1]) if points else None

    def step(self, name: str) -> StepTimes | None:
        """Return the times of a step; None if it has not begun."""
        of_step = [each for each in self.records if each.get("step") == name]
        began = [float(each["at"]) for each in of_step if each["event"] == "began"]
        if not began:
            return None
        ended = next((float(each["at"]) for each in of_step if each["event"] == "ended"), None)
        seconds = round(ended - began[-1], 3) if ended is not None else None
        return StepTimes(len(began), seconds, round(ended - began[0], 3) if ended is not None else None, ended)

    def to_dict(self) -> dict[str, Any]:
        """Return the measured recovery point and recovery time; None before they are known."""
        ends = [float(each["at"]) for each in self.records if each["event"] == "ended"]
        start, point = self.declared_at, self.point_at
        return {
            "declared_at": start,
            "recovery_seconds": round(max(ends) - start, 3) if ends and start is not None else None,
            "recovery_point_seconds": round(start - point, 3) if start is not None and point is not None else None,
        }


def read(path: Path) -> Progress:
    """Return the records of a file; empty if there is none. A line that a kill cut off at the end is ignored."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Progress()
    return Progress(tuple(json.loads(line) for line in lines[:-1]))


def append(path: Path, event: Event, at: float, **values: Any) -> None:
    """Append a record, on disk when this returns. A cut-off line at the end is removed first."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with open(descriptor, "r+b") as file:
        content = file.read()
        file.seek(content.rfind(b"\n") + 1)
        file.truncate()
        file.write(json.dumps({"event": event, "at": round(at, 3), **values}).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def described(progress: Progress, names: Iterable[str]) -> str:
    """Return the attempts and durations of steps in words."""
    rows = ((name, progress.step(name)) for name in names)
    return ", ".join(
        f"{name} {times.seconds:g} s" for name, times in rows if times is not None and times.seconds is not None
    )
