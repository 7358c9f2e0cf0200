"""Report of the state: lines by area, and tasks of the operator in the order in which to do them."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["ok", "attention", "not read", "left out"]
#: Areas in the order of the report.
AREAS = ("sites", "link", "queue", "burst", "nodes", "backups", "certificates")


@dataclass(frozen=True, slots=True)
class StatusLine:
    """State of one subject. `not read`: its fact is missing, and `text` has the reason. `left out`: the command does not
    read it, and `text` has the command that does; it is not healthy, and no reason for another exit status.
    """

    area: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class OperatorTask:
    """Task that only an operator can do. `rank` 0 is the most urgent; `command` does it or shows how."""

    rank: int
    message: str
    command: str


@dataclass(frozen=True, slots=True)
class StatusReport:
    """State of an environment. `read`: number of hosts that answered."""

    environment: str
    at: str
    read: int
    lines: tuple[StatusLine, ...]
    tasks: tuple[OperatorTask, ...]

    @property
    def exit_status(self) -> int:
        """Return 2 if no host could be read, 1 if an operator has to act or a fact is missing, else 0."""
        if not self.read:
            return 2
        return 1 if self.tasks or any(line.level == "not read" for line in self.lines) else 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "environment": self.environment,
            "at": self.at,
            "hosts_read": self.read,
            "lines": [asdict(line) for line in self.lines],
            "tasks": [asdict(task) for task in self.tasks],
        }


Judged = Iterator[StatusLine | OperatorTask]


def report_of(environment: str, at: str, read: int, judged: Iterable[StatusLine | OperatorTask]) -> StatusReport:
    """Return the report of judged facts: lines by area, tasks by rank, each in the order of the facts."""
    every = tuple(judged)
    lines = [item for item in every if isinstance(item, StatusLine)]
    tasks = [item for item in every if isinstance(item, OperatorTask)]
    return StatusReport(
        environment,
        at,
        read,
        tuple(sorted(lines, key=lambda line: AREAS.index(line.area))),
        tuple(sorted(dict.fromkeys(tasks), key=lambda task: task.rank)),
    )


def duration(seconds: float) -> str:
    """Return a time in its two largest units: 3d 4h, 5h 10min, 12min."""
    minutes = max(0, int(seconds // 60))
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days}d {hours}h"
    return f"{hours}h {minutes % 60}min" if hours else f"{minutes}min"
