"""Waitlist of jobs that a budget refused, by account and approximate cost, so that cheap jobs do not wait for expensive ones."""

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

#: Amounts that differ by less than this share wait in one line.
_LINE_WIDTH_SHARE = 0.1


@dataclass(slots=True)
class BudgetWaitlist:
    """The jobs refused at one pool: by account, by amount, oldest first."""

    lines: dict[str, dict[int, list[tuple[int, float]]]] = field(default_factory=dict)
    awaited: bool = False  # a retry is scheduled

    def add(self, job: int, account: str, usd: float) -> None:
        """A job was refused so much."""
        line = math.ceil(math.log(max(usd, 1.0)) / math.log1p(_LINE_WIDTH_SHARE))
        insort(self.lines.setdefault(account, {}).setdefault(line, []), (job, usd))

    def jobs(self) -> Iterator[int]:
        """All of them."""
        return (job for lines in self.lines.values() for line in lines.values() for job, _ in line)

    def next(self, allowed: Callable[[str, float], bool], waits: Callable[[int], bool]) -> int | None:
        """The oldest job that would not be refused any more; it is taken out. Jobs that do not wait any more are dropped."""
        best: tuple[int, list[tuple[int, float]]] | None = None
        for account, lines in self.lines.items():
            heads = sorted((line[0][1], line[0][0], key) for key in list(lines) if (line := _alive(lines, key, waits)))
            # Caps are about sums: what is allowed ends somewhere in this order.
            end = bisect_left(heads, True, key=lambda head: not allowed(account, head[0]))
            for _, job, key in heads[:end]:
                if best is None or job < best[0]:
                    best = job, lines[key]
        if best is None:
            return None
        best[1].pop(0)
        return best[0]


def _alive(
    lines: dict[int, list[tuple[int, float]]], key: int, waits: Callable[[int], bool]
) -> list[tuple[int, float]]:
    """A line without its first jobs that do not wait any more; a line that ends by that is gone."""
    line = lines[key]
    while line and not waits(line[0][0]):
        line.pop(0)
    if not line:
        del lines[key]
    return line
