"""Limits of a run: each is a ratio of two values that the run has measured. The limits are data, in limits.yaml."""

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from landbridge import yaml_text

FILE = Path(__file__).with_name("limits.yaml")
#: Begin of the names of values of the peer, which cannot be measured on every machine.
PEER = "ParallelCluster"


@dataclass(frozen=True)
class Limit:
    """Largest ratio of the value called `value` to the one called `by`; `part` of the benchmark measures both in one run."""

    part: str
    value: str
    by: str
    most: float
    date: str
    source: str
    why: str


def read_limits(parts: Collection[str], path: Path = FILE) -> list[Limit]:
    """Return the limits of these parts. Raises TypeError for a row with other keys than those of Limit."""
    rows = [Limit(**row) for row in yaml_text.load(path.read_text())["limits"]]
    return [row for row in rows if row.part in parts]


def show_limits(limits: Iterable[Limit], values: Mapping[str, float]) -> bool:
    """Print each limit with its two values and their ratio; return whether all are kept.

    A value that was not measured fails, so that no limit is lost with a changed name; only the peer may be missing.
    """
    is_good = True
    print(f"\n{'limits':58} {'value':>9} {'by':>9} {'ratio':>8} {'most':>8}")
    for limit in limits:
        measured, divisor = values.get(limit.value), values.get(limit.by)
        line = f"{limit.value:58} {_number(measured):>9} {_number(divisor):>9}"
        if measured is None or not divisor:
            is_missing_peer = measured is not None and limit.by.startswith(PEER)
            print(f"{line}  {'not judged' if is_missing_peer else 'NOT MEASURED'}: {limit.by}")
            is_good = is_good and is_missing_peer
            continue
        is_kept = measured / divisor <= limit.most
        verdict = "" if is_kept else "  ABOVE THE LIMIT"
        print(f"{line} {measured / divisor:8.3g} {limit.most:8g}  x {limit.by}{verdict}")
        is_good = is_good and is_kept
    sys.stdout.flush()
    return is_good


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
