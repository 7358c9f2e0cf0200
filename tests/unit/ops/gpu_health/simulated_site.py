"""Simulated site for the state machine of GPU health: nodes with faults, and Slurm's state of them."""

from dataclasses import dataclass, field, replace

from landbridge.catalog.hardware.gpu_health import gpu_health
from landbridge.ops.gpu_health.machine import advance
from landbridge.ops.gpu_health.values import (
    PREFIX,
    HealthAction,
    HealthJournal,
    HealthObservation,
    HealthState,
    HealthStep,
    NodeView,
    RepairResult,
)

FACTS = gpu_health()
PERSON = "new fans, ask Kim"


@dataclass
class Machine:
    """Simulated node: Slurm's state of it, and its GPU. `fault`: (kind, action) until a repair of `heals` or a new part."""

    name: str
    site: str = "onprem"
    drained: bool = False
    reason: str = ""
    jobs: int = 0
    processes: int = 0
    booted_at: float = 0
    fault: tuple[str, str] | None = None
    heals: str = ""
    #: Whether the acceptance checks pass on a GPU without a fault; None: they do not run.
    passes: bool | None = True
    reserved: bool = False
    #: Whether steps have an effect and a result: no, for a process that was killed.
    works: bool = True


@dataclass
class Site:
    """Simulated site: it carries out the machine's actions and asserts what must never happen."""

    machines: dict[str, Machine]
    budget: int
    now: float = 1000.0
    journal: HealthJournal = field(default_factory=HealthJournal)
    results: list[RepairResult] = field(default_factory=list)
    history: list[HealthAction] = field(default_factory=list)

    def once(self) -> tuple[HealthAction, ...]:
        self.now += 60
        views = [
            NodeView(m.name, m.site, m.drained, m.reason, m.jobs, m.processes, m.booted_at)  # type: ignore[arg-type]
            for m in self.machines.values()
        ]
        seen = [
            HealthObservation(self.now - 1, m.name, m.fault[0], "", f"GPU-{m.name}", m.fault[1])
            for m in self.machines.values()
            if m.fault
        ]
        self.journal, actions = advance(self.journal, views, seen, self.results, FACTS, self.budget, self.now)
        self.results = []
        for name in self.machines:
            assert sum(action.node == name and action.step.is_disruptive for action in actions) <= 1
        for action in actions:
            self.carry_out(action)
        assert self.out() <= self.budget
        self.history += actions
        return actions

    def out(self) -> int:
        """Return the on-prem nodes that the machine keeps from jobs."""
        site_machines = [m for m in self.machines.values() if m.site == "onprem"]
        return sum((m.drained and m.reason.startswith(PREFIX)) or m.reserved for m in site_machines)

    def carry_out(self, action: HealthAction) -> None:
        m = self.machines[action.node]
        ok: bool | None
        # An action on a node of which a person has taken control.
        assert not (m.drained and m.reason == PERSON) or action.step is HealthStep.RELEASE
        if action.step in (HealthStep.RESET, HealthStep.REBOOT):
            assert m.drained and m.reason.startswith(PREFIX) and m.jobs == 0
        if action.step is HealthStep.RESET:
            assert m.processes == 0
        if not m.works:
            return
        match action.step:
            case HealthStep.DRAIN | HealthStep.QUARANTINE | HealthStep.RMA | HealthStep.REPLACE:
                assert len(action.reason) <= 200
                m.drained, m.reason, m.reserved = True, action.reason, False
                return
            case HealthStep.RETURN | HealthStep.RELEASE:
                m.reserved = False
                return
            case HealthStep.RETEST:
                m.drained, m.reserved = False, True
                ok = m.passes if m.fault is None else False
            case _:
                if m.heals == action.step:
                    m.fault = None
                if action.step is HealthStep.REBOOT:
                    m.booted_at = self.now + 1
                    m.processes = 0
                ok = True
        self.results.append(RepairResult(m.name, str(action.step), action.started, self.now, ok))

    def until(self, name: str, *states: HealthState, passes: int = 40) -> HealthState:
        for _ in range(passes):
            self.once()
            if self.state(name) in states:
                break
        return self.state(name)

    def state(self, name: str) -> HealthState:
        return self.journal.records[name].state

    def steps(self, name: str) -> list[str]:
        return [str(action.step) for action in self.history if action.node == name]


def site(nodes: int = 3, budget: int = 1, **first: object) -> Site:
    machines = {f"n{index}": Machine(f"n{index}") for index in range(nodes)}
    machines["n0"] = replace(machines["n0"], **first)  # type: ignore[arg-type]
    return Site(machines, budget)
