"""Replay of recorded observations through the state machine: states, actions and times. Pure.

The nodes of a replay have no jobs, and each step of a repair succeeds unless it is among the failing ones.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from landbridge.catalog.hardware.gpu_health import GpuHealthFacts
from landbridge.ops.gpu_health.machine import advance
from landbridge.ops.gpu_health.values import (
    HealthAction,
    HealthJournal,
    HealthObservation,
    HealthRecord,
    HealthState,
    HealthStep,
    NodeView,
    RepairResult,
)

#: Seconds between two passes of a replay.
PASS_SECONDS = 60.0
#: Passes after the last observation: more than any repair needs.
_MOST_PASSES = 1000


@dataclass(frozen=True, slots=True)
class ReplayedChange:
    """Change of a node's state at a time, with the actions of the pass."""

    at: float
    node: str
    before: HealthState
    after: HealthState
    detail: str
    gpus: tuple[str, ...]
    actions: tuple[str, ...]


@dataclass(slots=True)
class _Replayed:
    """Nodes, journal and results of a replay."""

    facts: GpuHealthFacts
    budget: int
    failing: Collection[str]
    views: dict[str, NodeView]
    journal: HealthJournal = field(default_factory=HealthJournal)
    results: list[RepairResult] = field(default_factory=list)

    def once(self, observations: Sequence[HealthObservation], now: float) -> Iterator[ReplayedChange]:
        """Yield the changes of one pass."""
        before = self.journal
        self.journal, actions = advance(
            before, self.views.values(), observations, self.results, self.facts, self.budget, now
        )
        self.results = []
        for name, record in self.journal.records.items():
            earlier = before.records.get(name, HealthRecord(name))
            if earlier.state is not record.state:
                steps = tuple(str(action.step) for action in actions if action.node == name)
                yield ReplayedChange(now, name, earlier.state, record.state, record.detail, record.gpus, steps)
        for action in actions:
            self._carry_out(action, now)

    def _carry_out(self, action: HealthAction, now: float) -> None:
        view = self.views[action.node]
        match action.step:
            case HealthStep.RETURN | HealthStep.RELEASE:
                self.views[action.node] = replace(view, drained=False, reason="")
            case HealthStep.RESET | HealthStep.REBOOT | HealthStep.RETEST:
                ok = str(action.step) not in self.failing
                if action.step is HealthStep.RETEST:
                    self.views[action.node] = replace(view, drained=False, reason="")
                detail = "" if ok else "fails in this replay"
                self.results.append(RepairResult(action.node, str(action.step), action.started, now, ok, detail))
            case _:
                self.views[action.node] = replace(view, drained=True, reason=action.reason)

    @property
    def is_settled(self) -> bool:
        """Return true if no repair is in progress."""
        states = [record.state for record in self.journal.records.values()]
        return not self.results and all(state.in_service or state.is_final for state in states)


def replay(
    observations: Sequence[HealthObservation],
    facts: GpuHealthFacts,
    budget: int = 1,
    failing: Collection[str] = (),
    site: str = "onprem",
) -> tuple[list[ReplayedChange], HealthJournal]:
    """Return the changes of states, and the journal at the end."""
    ordered = sorted(observations, key=lambda observation: observation.at)
    names = sorted({observation.node for observation in ordered})
    views = {name: NodeView(name, "aws" if site == "aws" else "onprem") for name in names}
    replayed = _Replayed(facts, budget, failing, views)
    changes: list[ReplayedChange] = []
    now = 0.0
    for number, observation in enumerate(ordered):
        # Passes until the next observation, while a repair is in progress.
        while number and not replayed.is_settled and now + PASS_SECONDS < observation.at:
            now += PASS_SECONDS
            changes += replayed.once(ordered[:number], now)
        now = max(now, observation.at)
        changes += replayed.once(ordered[: number + 1], now)
    for _ in range(_MOST_PASSES):
        if replayed.is_settled:
            break
        now += PASS_SECONDS
        changes += replayed.once(ordered, now)
    return changes, replayed.journal
