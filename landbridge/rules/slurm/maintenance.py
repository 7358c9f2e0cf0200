"""Rules about maintenance windows."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from landbridge.environment import Environment, Window
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.rules.registry import dated_rule, rule

#: In a longer window the month is usually wrong.
_LONGEST = timedelta(days=14)


@rule
def maintenance_window(environment: Environment) -> Iterator[Finding]:
    """A window's times have a time zone, and it ends after it starts, within two weeks.

    Source: RFC 3339; Slurm's reservations, which are created from these windows.
    """
    for index, window in enumerate(environment.maintenance):
        base: DataPath = ("maintenance", index)
        naive = [key for key in ("starts", "ends") if getattr(window, key).utcoffset() is None]
        for key in naive:
            message = f"{key} has no time zone"
            yield error((*base, key), message, fix="append Z or an offset such as +02:00")
        if naive:
            continue
        related: tuple[DataPath, ...] = ((*base, "starts"),)
        if window.ends <= window.starts:
            message = f"the window ends at {window.ends.isoformat()}, before it starts"
            yield error((*base, "ends"), message, fix="write the later time", related=related)
        elif window.ends - window.starts > _LONGEST:
            message = f"the maintenance window lasts {(window.ends - window.starts).days} days"
            fix = "check the month"
            yield warning((*base, "ends"), message, fix=fix, related=related)


@rule
def maintenance_overlap(environment: Environment) -> Iterator[Finding]:
    """Two maintenance windows of one site do not overlap.

    Source: slurm.conf(5), reservations: two over the same nodes are refused.
    """
    windows = [(index, window) for index, window in enumerate(environment.maintenance) if _span(window) is not None]
    for position, (index, window) in enumerate(windows):
        for other, earlier in windows[:position]:
            if set(window.sites) & set(earlier.sites) and window.starts < earlier.ends and earlier.starts < window.ends:
                message = f"the window overlaps window {other} of {earlier.starts.isoformat()}"
                related: tuple[DataPath, ...] = (("maintenance", other),)
                path: DataPath = ("maintenance", index)
                yield warning(path, message, fix="merge the two", related=related)


@dated_rule
def maintenance_expired(environment: Environment, today: date) -> Iterator[Finding]:
    """A maintenance window is not in the past.

    Source: Landbridge: past windows have no effect.
    """
    now = datetime(today.year, today.month, today.day, tzinfo=UTC)
    for index, window in enumerate(environment.maintenance):
        if _span(window) is not None and window.ends < now:
            message = f"the maintenance window ended on {window.ends.date()}"
            yield info(("maintenance", index), message, fix="remove it")


def _span(window: Window) -> timedelta | None:
    """Return the length of a window; None if it is unknown."""
    if window.starts.utcoffset() is None or window.ends.utcoffset() is None:
        return None
    length = window.ends - window.starts
    return length if length > timedelta(0) else None
