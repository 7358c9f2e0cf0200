"""Instances of model servers in AWS: which to start and which to stop. Pure and level-triggered.

Pulumi creates and removes the instances; this changes their power state only. What the load needs comes from the record of the scale, so a host
that stops has had no weight at the gateway for DRAIN_SECONDS: longer than HAProxy waits for an answer.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

#: From the last need to the stop: HAProxy's `timeout server` and `hard-stop-after` are 60 s; Landbridge's choice, above both.
DRAIN_SECONDS = 90.0
#: Maximum run time of an instance that this program did not start: an operator may configure the host in this time. Landbridge's choice.
FOREIGN_SECONDS = 3600.0
#: Wait after a refused start until the same host is tried again: Landbridge's choice.
RETRY_SECONDS = 300.0
#: Longest wait for EC2 to show a start or a stop: its answers are eventually consistent. Landbridge's choice.
SETTLE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class HostInstance:
    """Instance of a host: its id and its state in EC2's words."""

    host: str
    id: str
    state: str


@dataclass(frozen=True, slots=True)
class PowerState:
    """Times by host. `started`: this program's start; `unneeded`: since when no service needs it; `refused`: the last refused start;
    `ordered`: the last order, whose effect EC2 may not show yet.
    """

    started: Mapping[str, float] = field(default_factory=dict)
    unneeded: Mapping[str, float] = field(default_factory=dict)
    refused: Mapping[str, float] = field(default_factory=dict)
    ordered: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """Instances to start and to stop, and the state before the orders."""

    start: tuple[HostInstance, ...]
    stop: tuple[HostInstance, ...]
    state: PowerState


def power_plan(
    known: Sequence[str],
    wanted: Collection[str],
    instances: Iterable[HostInstance],
    before: PowerState,
    at: float,
    *,
    is_short: bool = False,
) -> PowerPlan:
    """Return the next orders. `known`: the hosts in the order of their use; `wanted`: those that the services need now;
    `is_short`: a service needs more hosts than it has.

    A refused host stays absent while a later one serves in its place: a change back would take a ready host for one that starts.
    """
    present = {each.host: each for each in instances}
    unneeded = {host: before.unneeded.get(host, at) for host in present if host not in wanted}
    # After the clock was set back, the wait starts again.
    unneeded = {host: min(since, at) for host, since in unneeded.items()}
    last = max((known.index(host) for host in wanted if host in known), default=-1)
    refused = {
        host: time
        for host, time in before.refused.items()
        if host in known and (0 <= at - time < RETRY_SECONDS or (known.index(host) < last and not is_short))
    }
    ordered = {host: time for host, time in before.ordered.items() if 0 <= at - time < SETTLE_SECONDS}
    started = {host: time for host, time in before.started.items() if host in present}
    is_free = {host for host in present if host not in ordered}
    start = tuple(
        each
        for host, each in present.items()
        if host in wanted and each.state == "stopped" and host in is_free and host not in refused
    )
    stop = tuple(
        each
        for host, each in present.items()
        if host in unneeded
        and each.state == "running"
        and host in is_free
        and at - unneeded[host] >= (DRAIN_SECONDS if host in started else FOREIGN_SECONDS)
    )
    return PowerPlan(start, stop, PowerState(started, unneeded, refused, ordered))


def after_start(state: PowerState, host: str, at: float, *, is_refused: bool) -> PowerState:
    """Return the state after the order to start a host."""
    if is_refused:
        return PowerState(state.started, state.unneeded, {**state.refused, host: at}, state.ordered)
    return PowerState({**state.started, host: at}, state.unneeded, state.refused, {**state.ordered, host: at})


def after_stop(state: PowerState, host: str, at: float) -> PowerState:
    """Return the state after the order to stop a host."""
    started = {name: time for name, time in state.started.items() if name != host}
    return PowerState(started, state.unneeded, state.refused, {**state.ordered, host: at})


def absent_hosts(known: Iterable[str], instances: Iterable[HostInstance], state: PowerState) -> tuple[str, ...]:
    """Return the hosts that cannot serve now: their start was refused, or they have no instance, so that the next host is used."""
    present = {each.host for each in instances}
    return tuple(host for host in known if host in state.refused or host not in present)
