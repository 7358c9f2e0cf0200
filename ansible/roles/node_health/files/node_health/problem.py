"""Problems of a node, and the reason texts of its drain."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: Actions for the operator, the most serious first. `inspect`: a defect is possible but not certain.
ACTIONS = ("repair", "reboot", "reset", "inspect")
PREFIX = "landbridge"
_OURS = re.compile(rf"^{PREFIX}:[a-z_]+:")
# Slurm keeps longer ones, but sinfo and mails do not show them.
_LONGEST = 200


@dataclass(frozen=True)
class Problem:
    """One finding. `event` is True for a past event that only a log shows."""

    check: str
    detail: str
    action: str
    event: bool = False


@dataclass(frozen=True)
class Result:
    """Result of one round: `problems` drain the node, `warnings` do not. `at` is in seconds since 1970."""

    at: float
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """`landbridge:<check>:<detail>; do: <action>`, of the gravest problem; empty without one."""
        return reason(self.problems)


def reason(problems: Iterable[Problem]) -> str:
    """The words for Slurm, the same for the same problems. Quotes and line ends would cut it short."""
    ordered = sorted(problems, key=lambda one: (ACTIONS.index(one.action), one.check, one.detail))
    if not ordered:
        return ""
    first, more = ordered[0], len(ordered) - 1
    tail = f"; do: {first.action}" + (f" (and {more} more)" if more else "")
    detail = re.sub(r"[^\x20-\x7e]|[\"']", " ", first.detail)
    head = f"{PREFIX}:{first.check}:{detail}"
    return head[: _LONGEST - len(tail)].rstrip() + tail


def is_ours(text: str) -> bool:
    """Return whether this program wrote the reason of a drain, and may therefore remove the drain."""
    return _OURS.match(text) is not None


def write(path: Path, data: Any) -> None:
    """Replace a JSON file at once or not at all."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    temporary.replace(path)


def read(path: Path) -> Any:
    """The file's data; None when it is absent or no JSON, which a lost machine may leave behind."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def save(path: Path, result: Result) -> None:
    """Keep a round's result."""
    write(path, asdict(result))


def load(path: Path) -> Result | None:
    """The last round's result; None when there is none that makes sense."""
    found = read(path)
    try:
        problems = tuple(Problem(**one) for one in found["problems"])
        return Result(float(found["at"]), problems, tuple(found["warnings"]))
    except (KeyError, TypeError, ValueError):
        return None
