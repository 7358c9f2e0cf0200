"""Action that a node's observations require, by the kinds of the catalogue. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from landbridge.catalog.hardware.gpu_health import FaultKind, GpuHealthFacts
from landbridge.ops.gpu_health.values import SEVERITY, HealthObservation


@dataclass(frozen=True, slots=True)
class Requirement:
    """Required action, the GPUs that need it, and the observation that decided. `inspect`: the node stays in service."""

    action: str
    gpus: tuple[str, ...]
    detail: str
    last: float

    @property
    def drains(self) -> bool:
        """Return true if no further job may start on the node."""
        return self.action != "inspect"


def requirement(observations: Iterable[HealthObservation], facts: GpuHealthFacts) -> Requirement | None:
    """Return the most serious requirement of one node's observations; None without a known fault.

    Fewer observations than the kind's count, or too far apart, only make the GPU suspect.
    """
    groups: dict[tuple[str, str, str], list[HealthObservation]] = defaultdict(list)
    for observation in observations:
        kind = facts.kinds.get(observation.kind)
        if kind is None or (kind.action == "reported" and observation.action not in SEVERITY):
            continue
        # Two Xids of one GPU are two faults; of other kinds, only the GPU and the kind matter.
        detail = observation.detail if kind.count == 1 else ""
        groups[(observation.gpu, observation.kind, detail)].append(observation)
    judged = [_judged(group, facts.kinds[kind]) for (_, kind, _), group in groups.items()]
    if not judged:
        return None
    action = min((entry.action for entry in judged), key=SEVERITY.index)
    decisive = sorted(
        (entry for entry in judged if entry.action == action), key=lambda entry: (entry.last, entry.detail)
    )
    gpus = sorted({gpu for entry in decisive for gpu in entry.gpus})
    return Requirement(action, tuple(gpus), decisive[0].detail, max(entry.last for entry in judged))


def _judged(group: list[HealthObservation], kind: FaultKind) -> Requirement:
    ordered = sorted(group, key=lambda observation: observation.at)
    last = ordered[-1]
    is_reached = any(
        later.at - earlier.at <= kind.minutes * 60
        for earlier, later in zip(ordered, ordered[kind.count - 1 :], strict=False)
    )
    action = "inspect"
    if is_reached:
        action = last.action if kind.action == "reported" else kind.action
    return Requirement(action, (last.gpu,) if last.gpu else (), f"{last.kind} {last.detail}".strip(), last.at)
