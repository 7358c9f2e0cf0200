"""Problems of a node, and the reason texts of its drain."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: Actions for the operator, the most serious first. `inspect`: a defect is possible but not certain.
ACTIONS = ("repair", "reboot", "reset", "inspect")
PREFIX = "landbridge"
#: Start of the drains of `landbridge health`, which repairs nodes; they count in the failure budget.
REPAIR = f"{PREFIX}: health: "
_OURS = re.compile(rf"^{PREFIX}:[a-z_]+:")
# Characters. Slurm stores longer reasons, but sinfo and mails do not show them.
_MAX_LENGTH = 200


@dataclass(frozen=True)
class Problem:
    """One finding. `event` is True for a past event that only a log shows, `at` its time in seconds since 1970."""

    check: str
    detail: str
    action: str
    event: bool = False
    at: float | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Result:
    """Result of one check: `problems` drain the node, `warnings` do not. `at` is in seconds since 1970."""

    at: float
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """`landbridge:<check>:<detail>; do: <action>`, of the most serious problem; empty without one."""
        return reason(self.problems)


def reason(problems: Iterable[Problem]) -> str:
    """Return Slurm's reason, equal for equal problems, without quotes and line ends: Slurm would truncate it there."""
    ordered = sorted(problems, key=lambda problem: (ACTIONS.index(problem.action), problem.check, problem.detail))
    if not ordered:
        return ""
    first, more = ordered[0], len(ordered) - 1
    tail = f"; do: {first.action}" + (f" (and {more} more)" if more else "")
    head = plain(f"{PREFIX}:{first.check}:{first.detail}")
    return head[: _MAX_LENGTH - len(tail)].rstrip() + tail


def plain(text: str) -> str:
    """Return the text as Slurm stores a reason: one line without quotes and other characters, where Slurm truncates it."""
    return re.sub(r"[^\x20-\x7e]|[\"']", " ", text)


def is_ours(text: str) -> bool:
    """Return whether this program wrote the reason of a drain, and may therefore remove the drain."""
    return _OURS.match(text) is not None


def counts(text: str) -> bool:
    """Return whether a drain with this reason counts in the failure budget: of a health check, or of a repair."""
    return is_ours(text) or text.startswith(REPAIR)


def write(path: Path, data: Any) -> None:
    """Replace a JSON file atomically."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    temporary.replace(path)


def read(path: Path) -> Any:
    """Return the file's data; None if it is absent or not JSON, as after a power failure."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def save(path: Path, result: Result) -> None:
    """Write the result of a check."""
    write(path, asdict(result))


def load(path: Path) -> Result | None:
    """Return the result of the last check; None if there is no valid one."""
    data = read(path)
    try:
        problems = tuple(Problem(**entry) for entry in data["problems"])
        return Result(float(data["at"]), problems, tuple(data["warnings"]))
    except (KeyError, TypeError, ValueError):
        return None
