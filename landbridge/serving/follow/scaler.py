"""Scale of services on the gateway's host: its record in a file, and the step of a pass from HAProxy's counters."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from landbridge.serving.canary_controller.runtime_socket import BackendCounters, backend_counters
from landbridge.serving.follow.config import FollowConfig, FollowedService, read_orders
from landbridge.serving.follow.record import write_whole
from landbridge.serving.follow.scale import ScaleState, ServiceLoad, scaled

#: Record of landbridge-model-instances in the state folder: the hosts in AWS that cannot be started now.
ABSENT = "instances/absent.json"


def used_hosts(config: FollowConfig, service: FollowedService) -> tuple[str, ...]:
    """Return the hosts that serve: the first ones, as many as the load needs and the operator's order permits."""
    return present_hosts(config.state, service)[: wanted_count(config, service)]


def wanted_count(config: FollowConfig, service: FollowedService) -> int:
    """Return the number of hosts that the load needs and the operator's order permits."""
    count = min(len(service.hosts), read_orders(config.orders).get(service.name, len(service.hosts)))
    return count if service.scale is None else min(count, read_scale(config.state, service).hosts)


def present_hosts(state: Path, service: FollowedService) -> tuple[str, ...]:
    """Return the service's hosts without those in AWS that cannot be started now: the next ones take their place."""
    absent = read_absent(state)
    return tuple(host for host in service.hosts if host not in absent)


def read_absent(state: Path) -> frozenset[str]:
    """Return the hosts that landbridge-model-instances cannot start; none without its record."""
    try:
        return frozenset(map(str, json.loads((state / ABSENT).read_text())))
    except (OSError, TypeError, ValueError):
        return frozenset()


def read_scale(state: Path, service: FollowedService) -> ScaleState:
    """Return the record; every host without one, so that a lost record stops nothing."""
    try:
        data = json.loads((state / f"scale-{service.name}.json").read_text())
        return ScaleState(**{**data, "hosts": int(data["hosts"])})
    except (OSError, KeyError, TypeError, ValueError):
        return ScaleState(len(service.hosts))


@dataclass
class Scaler:
    """Steps of the scale. The rate of requests is that between two passes of this process."""

    config: FollowConfig
    clock: Callable[[], float]
    log: Callable[[str], None]
    _last: dict[str, tuple[float, BackendCounters]] = field(default_factory=dict)
    _states: dict[str, ScaleState] = field(default_factory=dict)

    def step(self, service: FollowedService, ready: int, *, is_changing: bool) -> ScaleState | None:
        """Return the next state; None for a service without a scale. Raises GatewayError."""
        if service.scale is None:
            return None
        now, counters = self.clock(), backend_counters(self.config.socket, service.backend)
        before = self._states.get(service.name) or read_scale(self.config.state, service)
        load = self._load(service, now, counters)
        state = scaled(service.scale, before, load, ready, is_changing=is_changing)
        if state.hosts != before.hosts:
            rate = "unknown" if load.rate is None else f"{load.rate:.1f}"
            self.log(f"{service.name}: {before.hosts} -> {state.hosts} hosts, {rate} requests/s, {load.waiting} wait")
        if state.cold_seconds != before.cold_seconds:
            self.log(f"{service.name}: the start from zero took {state.cold_seconds:.1f} s")
        return state

    def keep(self, service: FollowedService, state: ScaleState | None) -> None:
        """Write the record, which hosts follow, after the weights were set. The window is in memory: a new process begins another one."""
        if state is None:
            return
        self._states[service.name] = state
        if _kept(state) != _kept(read_scale(self.config.state, service)):
            write_whole(self.config.state / f"scale-{service.name}.json", json.dumps(asdict(state)) + "\n")

    def _load(self, service: FollowedService, now: float, counters: BackendCounters) -> ServiceLoad:
        at, last = self._last.get(service.name, (now, counters))
        self._last[service.name] = (now, counters)
        # A reload of HAProxy begins at 0.
        requests = counters.requests - last.requests if counters.requests >= last.requests else counters.requests
        rate = requests / (now - at) if now > at else None
        return ServiceLoad(now, rate, counters.in_flight, counters.waiting)


def _kept(state: ScaleState) -> tuple[float, ...]:
    return (state.hosts, state.changed_at, state.cold_at, state.cold_seconds)
