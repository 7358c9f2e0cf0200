"""Rules about planned outages."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from landbridge.environment import Environment, Window
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.rules.registry import dated_rule, rule

#: A window longer than this is rather a mistake in its month.
_LONG = timedelta(days=14)


@rule
def maintenance_window(environment: Environment) -> Iterator[Finding]:
    """A window's times name their time zone, and it ends after it starts, within two weeks.

    Source: RFC 3339; Slurm's reservations, which are made of these windows.
    """
    for index, window in enumerate(environment.maintenance):
        base: DataPath = ("maintenance", index)
        naive = [key for key in ("starts", "ends") if getattr(window, key).utcoffset() is None]
        for key in naive:
            message = "a window's times need their time zone"
            yield error((*base, key), message, fix="end it with Z, or +02:00")
        if naive:
            continue
        related: tuple[DataPath, ...] = ((*base, "starts"),)
        if window.ends <= window.starts:
            message = f"the window ends at {window.ends.isoformat()}, before it starts"
            yield error((*base, "ends"), message, fix="write the later time", related=related)
        elif window.ends - window.starts > _LONG:
            message = f"the window lasts {(window.ends - window.starts).days} days"
            fix = "is the month right?"
            yield warning((*base, "ends"), message, fix=fix, related=related)


@rule
def maintenance_overlap(environment: Environment) -> Iterator[Finding]:
    """Two windows of one site do not overlap: one of them has moved, and the other was left.

    Source: slurm.conf(5), reservations: two over the same nodes are refused.
    """
    known = [(index, one) for index, one in enumerate(environment.maintenance) if _span(one) is not None]
    for position, (index, one) in enumerate(known):
        for other, earlier in known[:position]:
            if set(one.sites) & set(earlier.sites) and one.starts < earlier.ends and earlier.starts < one.ends:
                message = f"this window overlaps the one at {other}, of {earlier.starts.isoformat()}"
                related: tuple[DataPath, ...] = (("maintenance", other),)
                path: DataPath = ("maintenance", index)
                yield warning(path, message, fix="join the two", related=related)


@dated_rule
def maintenance_expired(environment: Environment, today: date) -> Iterator[Finding]:
    """A window that is over says nothing any more.

    Source: Landbridge: windows are for what is to come.
    """
    now = datetime(today.year, today.month, today.day, tzinfo=UTC)
    for index, window in enumerate(environment.maintenance):
        if _span(window) is not None and window.ends < now:
            message = f"this window ended on {window.ends.date()}"
            yield info(("maintenance", index), message, fix="remove it")


def _span(window: Window) -> timedelta | None:
    """How long it lasts; None where that cannot be known."""
    if window.starts.utcoffset() is None or window.ends.utcoffset() is None:
        return None
    length = window.ends - window.starts
    return length if length > timedelta(0) else None
