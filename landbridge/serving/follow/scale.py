"""Scale of a service by its load: the number of hosts that serve it. Pure and level-triggered.

The number rises at once, and falls when no need of a whole window reached it. A request that waits keeps or starts at least one host.
"""

from dataclasses import dataclass, replace
from math import ceil

#: Share of a host's measured rate that is used before the next host starts: Landbridge's choice.
TARGET_SHARE = 0.8
#: Longest start of a host: Landbridge's choice. After it, requests that wait start the next host.
START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class ScalePlan:
    """Bounds: minimum and maximum number of hosts, requests per second that one host can serve, and the time before the number decreases."""

    least: int
    most: int
    host_rate: float
    idle_seconds: float


@dataclass(frozen=True, slots=True)
class ServiceLoad:
    """Load of a service: requests per second since the last look (None: the first look), requests in flight, and of these those that wait."""

    at: float
    rate: float | None
    in_flight: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ScaleState:
    """Number of hosts and the time of its last change; the greatest need of the window that began at `since`.

    `cold_at`: the start from zero that is not ready yet; 0: none. `cold_seconds`: duration of the last one until a host was ready.
    """

    hosts: int
    changed_at: float = 0.0
    peak: int = 0
    since: float = 0.0
    cold_at: float = 0.0
    cold_seconds: float = 0.0


def scaled(
    plan: ScalePlan, before: ScaleState, load: ServiceLoad, ready: int, *, is_changing: bool = False
) -> ScaleState:
    """Return the next state. `ready`: hosts that serve now; `is_changing`: a version is to become ready, which needs a host."""
    hosts = _bounded(plan, before.hosts)
    needed = _bounded(plan, _needed(plan, hosts, before.changed_at, load, ready, is_changing))
    state = _cold(before, load.at, ready)
    if needed >= hosts:
        changed_at = before.changed_at if needed == before.hosts else load.at
        cold_at = load.at if not before.hosts and needed else state.cold_at
        return replace(state, hosts=needed, changed_at=changed_at, peak=0, since=load.at, cold_at=cold_at)
    # After the clock was set back, the window starts again.
    since = min(before.since, load.at)
    peak = max(before.peak, needed)
    if load.at - since < plan.idle_seconds:
        return replace(state, hosts=hosts, peak=peak, since=since)
    return replace(state, hosts=_bounded(plan, peak), changed_at=load.at, peak=needed, since=load.at, cold_at=0.0)


def _needed(plan: ScalePlan, hosts: int, changed_at: float, load: ServiceLoad, ready: int, is_changing: bool) -> int:
    if load.rate is None:
        return hosts if hosts or not load.waiting else 1
    needed = ceil(load.rate / (plan.host_rate * TARGET_SHARE))
    if load.in_flight or load.waiting or is_changing:
        needed = max(needed, 1)
    if load.waiting:
        is_starting = ready < hosts and 0 <= load.at - changed_at < START_SECONDS
        needed = max(needed, hosts if is_starting else hosts + 1)
    return needed


def _cold(before: ScaleState, at: float, ready: int) -> ScaleState:
    if not before.cold_at or not ready:
        return before
    return replace(before, cold_at=0.0, cold_seconds=round(max(0.0, at - before.cold_at), 3))


def _bounded(plan: ScalePlan, hosts: int) -> int:
    return min(plan.most, max(plan.least, hosts))
