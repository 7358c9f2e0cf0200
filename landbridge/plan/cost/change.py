"""Cost of a change: the bills before and after it, line by line."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from landbridge.plan.cost.bill_lines import Spend, SpendLine, Unpriced

ChangeKind = Literal["added", "removed", "changed"]
#: Counts and sizes in a description, which a change alters: `4 x p5.48xlarge` and `8 x p5.48xlarge` are one line.
_AMOUNT = re.compile(r"^\d[\d,]* x |\b\d[\d,]*(?= (?:x|GiB|MB/s|MiB/s|interface|addresses|zones?|images)\b)")
_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class LineChange:
    """Line of the bill that differs: `before` is None if it is added, `after` if it is removed. Amounts in US dollars."""

    before: SpendLine | None
    after: SpendLine | None

    @property
    def kind(self) -> ChangeKind:
        """Return whether the line is added, removed or changed."""
        return "added" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def line(self) -> SpendLine:
        """Return the line after the change, else the removed one."""
        line = self.after or self.before
        if line is None:
            raise ValueError("a change must have an earlier or a later line")
        return line

    @property
    def usd_hour(self) -> float:
        """Difference of an hour with everything running."""
        return _amount(self.after, "usd_hour") - _amount(self.before, "usd_hour")

    @property
    def usd_month(self) -> float:
        """Difference of a month with everything running."""
        return _amount(self.after, "usd_month") - _amount(self.before, "usd_month")

    @property
    def fixed_month(self) -> float:
        """Difference of a month without jobs."""
        return _amount(self.after, "fixed_month") - _amount(self.before, "fixed_month")

    @property
    def usd_whole(self) -> float:
        """Difference of the prepayments for Capacity Blocks."""
        return _amount(self.after, "usd_whole") - _amount(self.before, "usd_whole")


@dataclass(frozen=True, slots=True)
class CostChange:
    """Difference of two bills: the lines that differ, and the items without an amount that were added or removed."""

    before: Spend
    after: Spend
    lines: tuple[LineChange, ...]
    unpriced_added: tuple[Unpriced, ...]
    unpriced_removed: tuple[Unpriced, ...]

    @property
    def usd_hour(self) -> float:
        """Difference of an hour with everything running."""
        return sum(line.usd_hour for line in self.lines)

    @property
    def usd_month(self) -> float:
        """Difference of a month with everything running."""
        return sum(line.usd_month for line in self.lines)

    @property
    def fixed_month(self) -> float:
        """Difference of a month without jobs."""
        return sum(line.fixed_month for line in self.lines)

    @property
    def usd_whole(self) -> float:
        """Difference of the prepayments for Capacity Blocks."""
        return sum(line.usd_whole for line in self.lines)

    @property
    def without_price(self) -> tuple[Unpriced, ...]:
        """Items without a known price that the change adds or removes: their part of the difference is unknown."""
        return tuple(item for item in (*self.unpriced_added, *self.unpriced_removed) if item.reason == "no_price")

    @property
    def is_empty(self) -> bool:
        """True if the bills are equal."""
        return not (self.lines or self.unpriced_added or self.unpriced_removed)


def cost_change(before: Spend, after: Spend) -> CostChange:
    """Return the difference of two bills, by pool and description. It is antisymmetric: exchanged bills give the same
    lines with opposite amounts.
    """
    lines_before, lines_after = _by_key(before.lines), _by_key(after.lines)
    pairs = (LineChange(lines_before.get(key), lines_after.get(key)) for key in sorted({*lines_before, *lines_after}))
    return CostChange(
        before,
        after,
        tuple(pair for pair in pairs if _amounts(pair.before) != _amounts(pair.after)),
        _only_in(after.unpriced, before.unpriced),
        _only_in(before.unpriced, after.unpriced),
    )


def _by_key(lines: Iterable[SpendLine]) -> dict[_Key, SpendLine]:
    """Return the lines by pool, description without amounts, and number among equal ones."""
    groups: dict[tuple[str, str], list[SpendLine]] = defaultdict(list)
    for line in lines:
        groups[line.pool or "", _AMOUNT.sub("", line.description)].append(line)
    return {(*key, number): line for key, group in groups.items() for number, line in enumerate(group)}


def _only_in(items: tuple[Unpriced, ...], others: tuple[Unpriced, ...]) -> tuple[Unpriced, ...]:
    """Return the items that `others` does not have, sorted."""
    missing = {*items} - {*others}
    return tuple(sorted(missing, key=lambda item: (item.pool or "", item.description, item.why)))


def _amounts(line: SpendLine | None) -> tuple[object, ...]:
    """Return what makes two lines different: the amounts, and the text with its counts."""
    if line is None:
        return ()
    return line.description, line.usd_hour, line.usd_month, line.fixed_month, line.usd_whole


def _amount(line: SpendLine | None, field: str) -> float:
    return float(getattr(line, field) or 0.0) if line is not None else 0.0
