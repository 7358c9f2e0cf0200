"""Observations from counters: an increase beyond the rate of the catalogue between two readings. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from landbridge.catalog.hardware.gpu_health import GpuHealthFacts
from landbridge.ops.gpu_health.values import HealthObservation


@dataclass(frozen=True, slots=True)
class CounterReading:
    """Counters of one GPU or port at a time, by kind: pcie_replay, nvlink_errors, port_errors (role node_health, counters.py)."""

    at: float
    node: str
    part: str
    values: Mapping[str, float] = field(default_factory=dict)


def counter_observations(readings: Iterable[CounterReading], facts: GpuHealthFacts) -> tuple[HealthObservation, ...]:
    """Return an observation for each increase beyond its kind's rate. A counter that fell was reset by a reboot."""
    last: dict[tuple[str, str], CounterReading] = {}
    observations = []
    for reading in sorted(readings, key=lambda reading: reading.at):
        before = last.get((reading.node, reading.part))
        last[(reading.node, reading.part)] = reading
        if before is None or reading.at <= before.at:
            continue
        hours = (reading.at - before.at) / 3600
        for kind, value in sorted(reading.values.items()):
            fault = facts.kinds.get(kind)
            increase = value - before.values.get(kind, value)
            if fault is None or fault.per_hour is None or increase <= 0 or increase / hours < fault.per_hour:
                continue
            detail = f"{reading.part}: {increase:g} more in {hours * 60:.0f} minutes"
            gpu = reading.part if kind != "port_errors" else ""
            observations.append(HealthObservation(reading.at, reading.node, kind, detail, gpu))
    return tuple(observations)
