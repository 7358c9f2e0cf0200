"""Simulated slurmctld: allocation of jobs, power saving and calls of programs as time passes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from landbridge.burst.daemon.job_starts import APART_SECONDS
from landbridge.burst.model import BurstPolicy, OrderKind
from tests.unit.burst.world.clock import Clock
from tests.unit.burst.world.ec2 import Ec2World
from tests.unit.burst.world.faults import Faults
from tests.unit.burst.world.machines import Machine
from tests.unit.burst.world.sims import SimJob, SimNode

SUSPEND_TIME = 60.0
SUSPEND_TIMEOUT = 30.0
SLURMD_TIMEOUT = 100.0
REQUEUE_DELAY = 10.0
COMPLETING = 10.0

LOCAL = "onprem"

Shim = Callable[[OrderKind, tuple[str, ...], Mapping[int, tuple[str, ...]]], None]


@dataclass
class Slurmctld:
    """slurmctld, on the controller's clock. `shim` is called with the arguments of ResumeProgram, SuspendProgram and
    ResumeFailProgram."""

    clock: Clock
    faults: Faults
    policy: BurstPolicy
    ec2: Ec2World
    shim: Shim = lambda kind, nodes, jobs: None
    nodes: dict[str, SimNode] = field(default_factory=dict)
    jobs: dict[int, SimJob] = field(default_factory=dict)
    up: bool = True
    twice: bool = False  # ResumeProgram is called twice
    lose: bool = False  # the shim's order never reaches the journal
    end_reports: set[int] = field(default_factory=set)  # jobs whose end the controller has reported or tried to
    excepted: set[str] = field(default_factory=set)  # nodes in SuspendExcNodes
    half: bool = False  # the next `down` ends after its first command
    local: int = 2  # nodes on-prem
    again: list[tuple[OrderKind, tuple[str, ...], dict[int, tuple[str, ...]]]] = field(default_factory=list)
    ran: Callable[[Sequence[SimJob]], None] = lambda jobs: None
    allocating: Callable[[SimJob, SimNode], None] = lambda job, node: None
    promoted: Callable[[SimJob], None] = lambda job: None
    downed: Callable[[SimNode, str], None] = lambda node, reason: None
    requeued: Callable[[SimJob], None] = lambda job: None
    left_apart: Callable[[SimJob], bool] = lambda job: False  # by a pass since PrologSlurmctld holds it

    def __post_init__(self) -> None:
        for pool in self.policy.pools.values():
            for number in range(1, pool.max_nodes + 1):
                name = f"{pool.node_prefix}{number}"
                self.nodes[name] = SimNode(name, pool.name)

    # Time.

    def tick(self) -> None:
        if not self.up:
            return
        for node in self.nodes.values():
            self._listen(node)
        for job in list(self.jobs.values()):
            self._advance(job)
        self._schedule()
        self._power()

    def _listen(self, node: SimNode) -> None:
        """Register nodes, and set nodes down that do not register or do not respond."""
        now = self.clock.now
        if node.power == "POWERING_UP":
            for machine in self.ec2.alive(node.name):
                if machine.answers and machine.boots <= self.clock.true and machine.launched >= node.resumed_at:
                    self._register(node, machine)
                    return
            if now - node.since > self.policy.pools[node.pool].resume_timeout:
                node.power = "POWERED_DOWN"
                self.set_down(node, "ResumeTimeout reached")
                self._call("resume-fail", (node.name,))
        elif node.power == "POWERED_DOWN":
            # The instance of a powered-down node may register, however old it is; that of a node that powers down may
            # not.
            for machine in self.ec2.alive(node.name):
                if machine.answers and machine.boots <= self.clock.true:
                    self._register(node, machine)
                    return
        elif node.power == "UP":
            if self.ec2.machines[node.machine].answers:
                node.deaf = None
                return
            node.deaf = now if node.deaf is None else node.deaf
            if now - node.deaf > SLURMD_TIMEOUT and node.base != "DOWN":
                self.set_down(node, "Not responding")

    def _register(self, node: SimNode, machine: Machine) -> None:
        is_unknown, node.is_forgotten = node.is_forgotten, False
        node.power, node.machine, node.address, node.deaf = "UP", machine.id, machine.address, None
        node.busy, node.wake = self.clock.now, False
        if node.base == "DOWN":
            node.base = "IDLE"  # ReturnToService=2
        if is_unknown:
            self.set_down(node, "Node unexpectedly rebooted")

    def _advance(self, job: SimJob) -> None:
        parts = self.together(job)
        if job.state == "CONFIGURING" and job is parts[0]:
            nodes = [self.nodes[name] for part in parts for name in part.nodes]
            if all(n.power == "UP" and n.deaf is None for n in nodes) and not self._prolog_holds(parts):
                for part in parts:
                    part.state, part.running, part.started = "RUNNING", self.clock.true, self.clock.now
                self.ran(parts)
        elif job.state == "RUNNING" and job.running is not None and job is parts[0]:
            whole = all(self.nodes[n].deaf is None for part in parts for n in part.nodes)
            is_over = any(
                p.minutes is not None and self.clock.now - (p.started or 0.0) >= 60 * p.minutes for p in parts
            )
            if is_over:
                for part in parts:
                    self._finish(part, "TIMEOUT")
            elif whole and self.clock.true - job.running >= job.runs:
                for part in parts:
                    self._finish(part, "COMPLETED")
        elif job.state == "COMPLETING" and job.ended is not None and self.clock.true - job.ended >= COMPLETING:
            self._free(job)
            job.state = "COMPLETED"

    def apart(self, job: SimJob) -> bool:
        """Return whether the job's nodes have instances in several zones or of several types."""
        return len({self.ec2.machines[self.nodes[name].machine].place for name in job.nodes}) > 1

    def _prolog_holds(self, parts: Sequence[SimJob]) -> bool:
        """Return whether PrologSlurmctld waits for the controller to move or to report a job on nodes apart."""
        first = parts[0]
        if not any(self.apart(part) for part in parts):
            return False
        first.held = self.clock.true if first.held is None else first.held
        return self.clock.true - first.held < APART_SECONDS and not any(self.left_apart(part) for part in parts)

    def _finish(self, job: SimJob, state: str) -> None:
        if job.state == "RUNNING":
            job.state, job.ended = "COMPLETING", self.clock.true
        elif job.state != "COMPLETING" and not job.over:
            self._free(job)
            job.state, job.ended = state, self.clock.true

    def _free(self, job: SimJob) -> None:
        for name in job.nodes:
            node = self.nodes[name]
            if node.job == job.id:
                node.job, node.busy = 0, self.clock.now
                node.base = "IDLE" if node.base == "ALLOCATED" else node.base
                node.wake = False if node.power == "POWERED_DOWN" else node.wake

    def _schedule(self) -> None:
        rank = {"UP": 0, "POWERING_UP": 1, "POWERED_DOWN": 2}
        for job in self.jobs.values():
            parts = self.together(job)
            if job is not parts[0] or any(p.state != "PENDING" or p.not_before > self.clock.now for p in parts):
                continue
            if job.pool == LOCAL and self._start_on_prem(job):
                continue
            chosen: dict[int, list[SimNode]] = {}
            assigned: set[str] = set()
            for part in parts:
                free = [
                    n
                    for n in self.nodes.values()
                    if n.pool in (part.pool, *part.offers)
                    and n.base == "IDLE"
                    and n.power in rank
                    and not n.off
                    and n.deaf is None
                    and n.name not in assigned
                ]
                chosen[part.id] = sorted(free, key=lambda n: rank[n.power])[: part.wants]
                assigned |= {n.name for n in chosen[part.id]}
            if all(len(chosen[p.id]) == p.wants for p in parts):
                for part in parts:
                    self._allocate(part, chosen[part.id])

    def _start_on_prem(self, job: SimJob) -> bool:
        """Start the job on-prem if there is room; return whether scheduling of the job is complete."""
        used = sum(j.wants for j in self.jobs.values() if j.pool == LOCAL and j.state == "RUNNING")
        if used + job.wants <= self.local:
            job.state, job.running, job.started = "RUNNING", self.clock.true, self.clock.now
            return True
        return not job.offers

    def _allocate(self, job: SimJob, nodes: Iterable[SimNode]) -> None:
        job.nodes = tuple(n.name for n in nodes)
        job.state, job.started, job.allocated = "CONFIGURING", self.clock.now, self.clock.true
        job.pool = self.nodes[job.nodes[0]].pool
        for name in job.nodes:
            node = self.nodes[name]
            self.allocating(job, node)
            node.base, node.job = "ALLOCATED", job.id
            node.wake = node.power == "POWERED_DOWN"

    def _power(self) -> None:
        """Run the power saving thread: ResumeProgram, SuspendProgram, SuspendTime, SuspendTimeout."""
        now = self.clock.now
        for kind, names, jobs in self.again:
            self.shim(kind, names, jobs)
        self.again.clear()
        rising: list[SimNode] = []
        falling: list[SimNode] = []
        for node in self.nodes.values():
            if node.power == "POWERING_DOWN":
                if now - node.since > SUSPEND_TIMEOUT:
                    node.power, node.since = "POWERED_DOWN", now
            elif node.wake and node.power == "POWERED_DOWN":
                rising.append(node)
            elif node.going or (
                node.power == "UP"
                and node.base != "ALLOCATED"
                and not node.job
                and now - node.busy > SUSPEND_TIME
                and node.name not in self.excepted
            ):
                falling.append(node)
        for node in rising:
            node.power, node.wake, node.since, node.resumed_at, node.address = (
                "POWERING_UP",
                False,
                now,
                self.clock.true,
                "",
            )
            node.machine, node.deaf = "", None
            node.reason = ""
        for node in falling:
            node.power, node.since, node.machine, node.deaf = "POWERING_DOWN", now, "", None
            node.off = node.forced = False
            node.address = ""
        if rising:
            jobs: dict[int, tuple[str, ...]] = {}
            for node in rising:
                if node.job:
                    jobs[node.job] = (*jobs.get(node.job, ()), node.name)
            self._call("resume", tuple(n.name for n in rising), jobs)
        if falling:
            self._call("suspend", tuple(n.name for n in falling))

    def _call(self, kind: OrderKind, names: tuple[str, ...], jobs: Mapping[int, tuple[str, ...]] | None = None) -> None:
        if self.lose:
            self.lose, self.faults.met = False, self.faults.met + 1
            return
        self.shim(kind, names, dict(jobs or {}))
        if self.twice:
            self.twice = False
            self.again.append((kind, names, dict(jobs or {})))

    def set_down(self, node: SimNode, reason: str) -> None:
        if node.job:
            self.requeue_job(self.jobs[node.job])
        node.base, node.reason, node.wake = "DOWN", reason, False

    def requeue_job(self, job: SimJob) -> None:
        for part in self.together(job):
            if part.state in ("CONFIGURING", "RUNNING") and not part.batch:
                self._free(part)
                part.state, part.ended = "CANCELLED", self.clock.true
            elif part.state in ("CONFIGURING", "RUNNING"):
                self._free(part)
                part.state, part.nodes, part.started, part.running = "PENDING", (), None, None
                part.held = None
                part.pool = LOCAL if part.offers else part.pool
                part.restarts += 1
                part.not_before = max(part.not_before, self.clock.now + REQUEUE_DELAY)
            elif part.state == "COMPLETING":
                self._free(part)
                part.state = "CANCELLED"

    def together(self, job: SimJob) -> list[SimJob]:
        return [job] if not job.het else [j for j in self.jobs.values() if j.het == job.het]
