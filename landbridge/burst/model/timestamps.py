"""Time as this controller writes it."""

import math
from datetime import UTC, datetime


def month_of(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def month_start(month: str) -> float:
    return datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC).timestamp()


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def minute_up(at: float) -> float:
    """Moments that are nearly the same become the same: one call serves them all."""
    return math.ceil(at / 60) * 60.0
