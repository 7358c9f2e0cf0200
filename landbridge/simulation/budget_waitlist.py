"""Waitlist of jobs that a budget refused, by account and approximate cost: cheap jobs do not wait for expensive ones."""

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

#: Jobs whose costs differ by less than this share are in the same line.
_LINE_WIDTH_SHARE = 0.1


@dataclass(slots=True)
class BudgetWaitlist:
    """Jobs that were refused at one pool: by account and line of cost, oldest first."""

    lines: dict[str, dict[int, list[tuple[int, float]]]] = field(default_factory=dict)
    is_retry_scheduled: bool = False

    def add(self, job: int, account: str, usd: float) -> None:
        """Add a job whose cost of `usd` was refused."""
        line = math.ceil(math.log(max(usd, 1.0)) / math.log1p(_LINE_WIDTH_SHARE))
        insort(self.lines.setdefault(account, {}).setdefault(line, []), (job, usd))

    def jobs(self) -> Iterator[int]:
        """Return all jobs."""
        return (job for lines in self.lines.values() for line in lines.values() for job, _ in line)

    def next(self, allowed: Callable[[str, float], bool], waits: Callable[[int], bool]) -> int | None:
        """Remove and return the oldest job that would not be refused any more; None without one. Jobs that do not wait
        any more are dropped."""
        best: tuple[int, list[tuple[int, float]]] | None = None
        for account, lines in self.lines.items():
            heads = sorted(
                (line[0][1], line[0][0], key) for key in list(lines) if (line := _waiting_line(lines, key, waits))
            )
            # Caps limit sums: in this order, the allowed jobs come first.
            end = bisect_left(heads, True, key=lambda head: not allowed(account, head[0]))
            for _, job, key in heads[:end]:
                if best is None or job < best[0]:
                    best = job, lines[key]
        if best is None:
            return None
        best[1].pop(0)
        return best[0]


def _waiting_line(
    lines: dict[int, list[tuple[int, float]]], key: int, waits: Callable[[int], bool]
) -> list[tuple[int, float]]:
    """Remove the first jobs of a line that do not wait any more, and the line if it is empty then; return the line."""
    line = lines[key]
    while line and not waits(line[0][0]):
        line.pop(0)
    if not line:
        del lines[key]
    return line
