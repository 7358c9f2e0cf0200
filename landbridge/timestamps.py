"""Timestamps: seconds since 1970 (UTC), their ISO 8601 text, days and months."""

import math
from datetime import UTC, datetime


def iso(at: float) -> str:
    """Return the timestamp as ISO 8601 text in UTC, in whole seconds."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_iso(text: str) -> float | None:
    """Return the timestamp of ISO 8601 text (UTC if it has no offset); None for other text."""
    try:
        parsed = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def day_of(at: float) -> str:
    """Return the day of a timestamp, such as 2026-11-25."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def day_end(at: float) -> float:
    """Return the first timestamp after the day of `at`."""
    return (math.floor(at / 86_400) + 1) * 86_400.0


def month_of(now: float) -> str:
    """Return the month of a timestamp, such as 2026-11."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def month_start(month: str) -> float:
    """Return the first timestamp of a month."""
    return datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC).timestamp()


def month_end(at: float) -> float:
    """Return the first timestamp after the month of `at`."""
    # Day 32 of a month is in the next one.
    return month_start(month_of(month_start(month_of(at)) + 31 * 86_400))


def round_up_to_minute(at: float) -> float:
    """Return the timestamp rounded up to a minute: leases that end in the same minute are renewed by one call."""
    return math.ceil(at / 60) * 60.0
