"""Changes of one pass: its actions and the next journal state, collected step by step. The only mutable value of a
pass."""

from collections.abc import Iterable, KeysView, Mapping, Sequence
from dataclasses import dataclass, field

from landbridge.burst.model import (
    Action,
    Attempt,
    Backoff,
    BudgetHold,
    Charge,
    CloudInstance,
    CommentJobs,
    DecisionRecord,
    Down,
    InstanceStatus,
    KeepNodes,
    Launch,
    NodeKeep,
    Observation,
    ObservationKind,
    PowerDown,
    PowerUp,
    Promote,
    ReadStatuses,
    RecordTopology,
    RegistrationFailure,
    Renew,
    RequeueJobs,
    ResumeNodes,
    SetAddresses,
    SlurmJob,
    State,
    StatusRead,
    Terminate,
    TerminationRefusal,
)
from landbridge.burst.model.errors import facts
from landbridge.burst.reconcile.budget import Ledger, Spending
from landbridge.burst.reconcile.clock_skew import BACKOFF_SECONDS
from landbridge.burst.reconcile.observed import Observed
from landbridge.timestamps import iso

#: A longer time between two passes means that the controller was stopped or a clock jumped: it does not count for
#: observations.
MAX_SECONDS_BETWEEN_PASSES = 30.0
#: Seconds until the jobs of a node that was set down are pending again, so that their comment can be written.
REQUEUE_SECONDS = 2.0


@dataclass(slots=True)
class Changes:
    """Actions and state changes of a pass; `actions()` returns the actions in the order of their execution."""

    observed: Observed
    state: State
    ledger: Ledger
    down_reasons: dict[str, tuple[str, str]] = field(default_factory=dict)  # node -> code and text
    terminated: set[str] = field(default_factory=set)
    launches: list[Launch] = field(default_factory=list)
    resumes: list[str] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    job_comments: CommentJobs | None = None
    promotes: list[Promote] = field(default_factory=list)
    power_ups: list[PowerUp] = field(default_factory=list)
    power_downs: list[PowerDown] = field(default_factory=list)
    records: list[DecisionRecord] = field(default_factory=list)
    attempts: dict[str, Attempt] = field(default_factory=dict)
    holds: dict[str, BudgetHold] = field(default_factory=dict)
    spent: Spending = field(default_factory=dict)
    charges: list[Charge] = field(default_factory=list)
    backoffs: dict[int, Backoff] = field(default_factory=dict)
    terminated_at: dict[str, float] = field(default_factory=dict)
    termination_refusals: dict[str, TerminationRefusal] = field(default_factory=dict)
    node_addresses: dict[str, str] = field(default_factory=dict)
    topology_read: dict[str, str] = field(default_factory=dict)
    topology_unread: list[RecordTopology] = field(default_factory=list)
    instance_statuses: dict[str, InstanceStatus] = field(default_factory=dict)
    status_reads: dict[str, StatusRead] = field(default_factory=dict)
    keeps: dict[str, NodeKeep] = field(default_factory=dict)
    keeps_in_slurm: dict[str, float] = field(default_factory=dict)
    keep_action: KeepNodes | None = None
    statuses_due: list[ReadStatuses] = field(default_factory=list)
    first_seen: dict[Observation, float] = field(default_factory=dict)
    min_nodes_requested_at: dict[str, float] = field(default_factory=dict)
    registration_failures: dict[str, RegistrationFailure] = field(default_factory=dict)
    next_pass: float | None = None
    _seconds_without_pass: float = 0.0
    _downs: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _ended_jobs: dict[int, tuple[SlurmJob, tuple[str, str]]] = field(default_factory=dict)
    _requeues: dict[int, tuple[SlurmJob, tuple[str, str]]] = field(default_factory=dict)
    # By code, and whether EC2 refused it before.
    _terminations: dict[tuple[str, bool], list[str]] = field(default_factory=dict)
    _renews: dict[tuple[float, str], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.attempts, self.holds = dict(self.state.attempts), dict(self.state.holds)
        self.spent, self.charges = dict(self.state.spent), list(self.state.charges)
        self.backoffs = dict(self.state.backoffs)
        self.termination_refusals = dict(self.state.termination_refusals)
        last = self.state.last_observation_at
        pause = 0.0 if last is None else self.observed.now - last
        self._seconds_without_pass = max(0.0, pause - MAX_SECONDS_BETWEEN_PASSES)

    @property
    def downed(self) -> KeysView[str]:
        """Return the nodes that this pass sets down."""
        return self.down_reasons.keys()

    @property
    def requeued(self) -> KeysView[int]:
        """Return the jobs that this pass requeues, while their nodes stay."""
        return self._requeues.keys()

    @property
    def last_observation_at(self) -> float | None:
        """Return the time of this pass if it observed a condition that has to last, else None."""
        return self.observed.now if self.first_seen else None

    def schedule_pass(self, at: float | None) -> None:
        """Request a pass at `at`, if that is in the future and before the next one."""
        if at is not None and at > self.observed.now and (self.next_pass is None or at < self.next_pass):
            self.next_pass = at

    def seconds_seen(self, kind: ObservationKind, subject: str, bound: float) -> float:
        """Return for how long the condition has lasted, pass after pass; request a pass when `bound` is reached.

        Time without passes does not count: one observation after a pause or a jump of the clock is not sufficient.
        """
        now, observation = self.observed.now, Observation(kind, subject)
        first = min(now, self.state.first_seen.get(observation, now) + self._seconds_without_pass)
        self.first_seen[observation] = first
        self.schedule_pass(first + bound)
        return now - first

    def record(
        self,
        event: str,
        code: str = "",
        text: str = "",
        nodes: Iterable[str] = (),
        jobs: Iterable[int] = (),
        pool: str = "",
        usd: float | None = None,
        **details: object,
    ) -> None:
        self.records.append(
            DecisionRecord(self.observed.now, event, tuple(jobs), tuple(nodes), pool, code, text, usd, details=details)
        )

    def terminate(self, instances: Iterable[str], code: str, text: str = "", nodes: Iterable[str] = ()) -> None:
        """Terminate instances that this pass does not terminate already; those that EC2 has refused to terminate only
        when they are due, and apart from the others."""
        new_ids = [instance for instance in instances if instance not in self.terminated]
        if self.observed.ec2 is None:
            return
        self.terminated.update(new_ids)
        due_ids = [instance for instance in new_ids if self._is_termination_due(instance)]
        for instance in due_ids:
            self._terminations.setdefault((code, instance in self.termination_refusals), []).append(instance)
        if due_ids:
            self.record("terminate", code, text, nodes, instances=due_ids)

    def _is_termination_due(self, instance: str) -> bool:
        refusal = self.termination_refusals.get(instance)
        self.schedule_pass(refusal.until if refusal else None)
        return refusal is None or refusal.until <= self.observed.now

    def down(
        self,
        nodes: Iterable[str],
        code: str,
        text: str,
        jobs: Iterable[SlurmJob] = (),
    ) -> None:
        """Set nodes down, terminate their instances, and back off their jobs with the reason.

        Jobs that Slurm does not requeue end with the first of their nodes that is set down.
        """
        new_nodes = [node for node in dict.fromkeys(nodes) if node not in self.down_reasons]
        if not new_nodes:
            return
        self.down_reasons.update(dict.fromkeys(new_nodes, (code, text)))
        self._downs.setdefault((code, text), []).extend(new_nodes)
        pool = self.observed.pools[new_nodes[0]].name if new_nodes[0] in self.observed.pools else ""
        job_ids = sorted({job.id for job in jobs})
        self.record("down", code, text, new_nodes, job_ids, pool)
        self._end_jobs(new_nodes, code, text, pool)
        for job in job_ids:
            self.back_off(job, code, text)
        hidden = [self.observed.unseen[node].instances[node] for node in new_nodes if node in self.observed.unseen]
        self.terminate(
            [*(instance.id for node in new_nodes for instance in self.observed.living.get(node, ())), *hidden],
            code,
            text,
            new_nodes,
        )
        self.schedule_pass(self.observed.now + REQUEUE_SECONDS)

    def _end_jobs(self, nodes: Sequence[str], code: str, text: str, pool: str) -> None:
        jobs = {job.id: job for node in nodes for job in self.observed.jobs.get(node, ()) if not job.is_requeued}
        ended = {
            number: (job, (code, text))
            for number, job in jobs.items()
            if job.state != "COMPLETING" and number not in self._ended_jobs
        }
        if ended:
            self._ended_jobs.update(ended)
            self.record("job-ends", code, text, nodes, ended, pool)

    def requeue(self, job: SlurmJob, code: str, text: str) -> None:
        """Requeue a job whose nodes are healthy, and back it off with the reason. Its nodes stay up for other jobs.

        Slurm requeues a heterogeneous job as a whole, by its leader.
        """
        if job.id in self._requeues or not self.down_reasons.keys().isdisjoint(job.nodes):
            return
        self._requeues[job.id] = job, (code, text)
        pool = next((self.observed.pools[node].name for node in job.nodes if node in self.observed.pools), "")
        event = "requeue" if job.is_requeued else "job-ends"
        self.record(event, code, text, job.nodes, [job.id], pool)
        self.back_off(job.id, code, text)
        self.schedule_pass(self.observed.now + REQUEUE_SECONDS)

    def back_off(self, job: int, code: str, text: str) -> None:
        """Do not try the job for a time that increases with each failure, and report the reason."""
        before = self.backoffs.get(job)
        tries = before.tries if before else 0
        if before is not None and self.observed.now < before.until:
            until = before.until  # the same failure, observed again
        else:
            until = self.observed.now + min(BACKOFF_SECONDS[1], BACKOFF_SECONDS[0] * 2 ** min(tries, 10))
            tries += 1
        self.backoffs[job] = Backoff(until, tries, code, text)

    def launch(self, launch: Launch, holds: Mapping[str, BudgetHold]) -> None:
        """Add a launch, and write its attempts and their budget holds to the journal state."""
        self.launches.append(launch)
        self.attempts.update({attempt.token: attempt for attempt in launch.attempts})
        for token, hold in holds.items():
            self.holds[token] = hold
            self.ledger.add(hold.account, hold.pool, hold.usd)

    def renew(self, instance: CloudInstance, until: float) -> None:
        self._renews.setdefault((until, instance.region), []).append(instance.id)

    def power_up(self, nodes: Iterable[str], pool: str, offering: str) -> None:
        """Add the power-up of nodes without a job."""
        names = tuple(nodes)
        self.power_ups.append(PowerUp(names))
        self.record("power-up", text=f"min_nodes of the pool; at {offering}", nodes=names, pool=pool)

    def power_down(self, nodes: Iterable[str], code: str, text: str, jobs: Iterable[int] = ()) -> None:
        """Power down nodes when their jobs have ended; no new job starts there. `jobs`: those that run on them."""
        known = {node for action in self.power_downs for node in action.nodes}
        names = tuple(node for node in dict.fromkeys(nodes) if node not in known and node not in self.down_reasons)
        if names:
            self.power_downs.append(PowerDown(names, code, text))
            self.record("power-down", code, text, names, jobs, pool=self.observed.pools[names[0]].name)

    def actions(self) -> tuple[Action, ...]:
        """Return the actions: first those that stop cost and requeue jobs, then launches, then the others. Comments, which
        may be many, come after renewals."""
        ended_jobs: dict[tuple[str, str], list[SlurmJob]] = {}
        for job, reason in self._ended_jobs.values():
            ended_jobs.setdefault(reason, []).append(job)
        actions: list[Action] = [
            Down(tuple(nodes), *reason, tuple(ended_jobs.get(reason, ()))) for reason, nodes in self._downs.items()
        ]
        requeues: dict[tuple[str, str], list[SlurmJob]] = {}
        for job, reason in self._requeues.values():
            requeues.setdefault(reason, []).append(job)
        actions += [RequeueJobs(tuple(jobs), *reason) for reason, jobs in requeues.items()]
        actions += [ResumeNodes(tuple(self.resumes))] if self.resumes else []
        actions += self.power_downs
        actions += [self.keep_action] if self.keep_action else []
        actions += [Terminate(tuple(ids), code) for (code, _), ids in self._terminations.items()]
        actions += [SetAddresses(dict(self.addresses))] if self.addresses else []
        actions += self.launches
        for (until, _), instances in sorted(self._renews.items()):
            if ids := sorted(set(instances) - self.terminated):
                # An action is one call, so that its outcome is that of all its instances.
                size = int(facts()["calls"]["tag"])
                actions += [Renew(tuple(ids[at : at + size]), until) for at in range(0, len(ids), size)]
                self.record("renew", text=iso(until), instances=ids)
        actions += [self.job_comments] if self.job_comments else []
        actions += self.promotes
        actions += self.power_ups
        actions += self.topology_unread
        actions += self.statuses_due
        return tuple(actions)
