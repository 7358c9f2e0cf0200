"""Provisioning: each start is refused, repeated or launched at an offering."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import floor

from landbridge.burst.model import Attempt, Gang, Launch, ObservationKind, Offering, PoolPolicy, SlurmJob
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.apart import APART_CODE, idle_nodes_to_leave
from landbridge.burst.reconcile.budget import hold_of
from landbridge.burst.reconcile.changes import MAX_SECONDS_BETWEEN_PASSES, Changes
from landbridge.burst.reconcile.clock_skew import CLOCK_SKEW_SECONDS
from landbridge.burst.reconcile.gangs import GangStart, batch_gang
from landbridge.burst.reconcile.launching.launch_attempts import attempts_for, split, tags_of
from landbridge.burst.reconcile.launching.launch_rate import LaunchRate
from landbridge.burst.reconcile.launching.offerings import OfferingChoice, choose, worst_case_usd
from landbridge.burst.reconcile.launching.refused_starts import RESUME_TIMEOUT_SHARE, RefusedStarts
from landbridge.burst.reconcile.launching.repeated_calls import RepeatedCalls
from landbridge.burst.reconcile.node_states import is_up
from landbridge.burst.reconcile.observed import Observed

NO_ANSWER = "AWS did not say in time whether it launches the instances"
RETRY_SECONDS = 5.0
#: Seconds until the next part of nodes is launched that are more than AWS launches at once.
TRICKLE_SECONDS = 15.0


@dataclass(slots=True)
class Provisioning:
    """Provisioning of one pass. `used`: number of instances by offering; `probing`: pools whose open breaker permits
    one launch as a probe."""

    observed: Observed
    changes: Changes
    used: Counter[str] = field(default_factory=Counter)
    probing: set[str] = field(default_factory=set)
    calls: RepeatedCalls = field(init=False)
    refused: RefusedStarts = field(init=False)
    rate: LaunchRate = field(init=False)
    by_gang: dict[str, list[Attempt]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.calls = RepeatedCalls(self.observed, self.changes)
        self.refused = RefusedStarts(self.observed, self.changes, self.by_gang)
        self.rate = LaunchRate.of(self.observed, self.changes.attempts.values())
        for attempt in self.changes.attempts.values():
            self.by_gang.setdefault(attempt.gang, []).append(attempt)
            if attempt.offering:
                self.used[attempt.offering] += len(attempt.nodes if attempt.ended is None else attempt.instances)

    def serve(self, start: GangStart) -> None:
        """Launch a start as a whole, wait for it, or give it up."""
        if not self.changes.downed.isdisjoint(start.nodes):
            reasons = (self.changes.down_reasons[node] for node in start.nodes if node in self.changes.downed)
            code, text = next(reasons)
            if code != APART_CODE:  # else the nodes that the job keeps start for its next allocation
                self._give_up(start, code, text)
            return
        refusal = self.refused.reason(start)
        late = self.refused.late_nodes(start)
        if refusal is None and late:
            start, refusal = start if start.all_or_nothing else start.only(late), ("NETWORK", NO_ANSWER)
        if refusal is not None:
            self._give_up(start, *refusal)
            return
        if self.observed.ec2 is None:
            return
        if start.all_or_nothing:
            self._whole(start)
        else:
            for gang in start.gangs:
                self._batch(start, gang)

    def _give_up(self, start: GangStart, code: str, text: str) -> None:
        self.changes.down(start.nodes, code, text, start.jobs)

    # Launches.

    def _whole(self, start: GangStart) -> None:
        """Launch all gangs of the start or none: the offerings of all are chosen before the first call."""
        calls: list[tuple[Gang, OfferingChoice]] = []
        open_attempts: list[tuple[Gang, list[Attempt]]] = []
        if hidden := self._hidden_siblings(start):
            self._wait_for(hidden, start)
            return
        ledger, used = self.changes.ledger.copy(), Counter(self.used)
        for gang in start.gangs:
            unknown = [attempt for attempt in self.by_gang.get(gang.key, ()) if attempt.ended is None]
            if unknown:
                open_attempts.append((gang, unknown))
                continue
            if any(node in self.observed.open for node in gang.nodes):
                return  # the result of another start's call for one of the nodes is unknown
            if not self._probe(gang.pool):
                return
            pool = self.observed.policy.pools[gang.pool]
            gang_with_regions = self._with_regions(gang, start.jobs)
            choice = choose(
                gang_with_regions, pool, self.changes.state, self.observed.policy, ledger, used, self.observed.now
            )
            if choice.offering is None:
                self._exhausted(start, gang, choice)
                return
            if self.calls.waits(choice.offering, gang.pool):
                return
            usd = worst_case_usd(choice.offering, gang, pool, self.observed.policy, len(gang.nodes), self.observed.now)
            ledger.add(gang.account, gang.pool, usd)
            used[choice.offering.key] += len(gang.nodes)
            calls.append((gang, choice))
        if (refusal := self._too_slow(start, calls)) is not None:
            self._give_up(start, "RATE", refusal)
            return
        for gang, unknown in open_attempts:
            self.calls.repeat(gang, unknown)
        for gang, choice in self._permitted(calls):
            self._launch(gang, choice, split(gang.nodes, self.observed.policy.launch_batch))

    def _too_slow(self, start: GangStart, calls: Iterable[tuple[Gang, OfferingChoice]]) -> str | None:
        """Return the reason if AWS launches the gangs too slowly to complete the start in time."""
        patience = min(RESUME_TIMEOUT_SHARE * self.observed.pools[node].resume_timeout for node in start.nodes)
        if not any(self.observed.has(node) for node in start.nodes):
            patience -= MAX_SECONDS_BETWEEN_PASSES  # each part is late by up to a pass
        waited = max((self.observed.now - job.started for job in start.jobs if job.started is not None), default=0.0)
        remaining = max(0.0, patience - max(0.0, waited))
        for offering, count in self._by_region(calls):
            if self.rate.seconds(offering, count) > remaining:
                return self.rate.refusal(offering, count, remaining, patience)
        return None

    def _permitted(self, calls: Iterable[tuple[Gang, OfferingChoice]]) -> Iterator[tuple[Gang, OfferingChoice]]:
        """Yield the gangs, or the parts of them, that AWS launches now; the others follow in later passes."""
        permitted: dict[str, int] = {}
        for offering, count in self._by_region(calls):
            permitted[self.rate.region(offering)] = self.rate.of_gang(offering, count)
            if permitted[self.rate.region(offering)] < count:
                self.changes.schedule_pass(self.observed.now + TRICKLE_SECONDS)
        if 0 in permitted.values():
            return
        for gang, choice in calls:
            assert choice.offering is not None
            region = self.rate.region(choice.offering)
            nodes = gang.nodes[: permitted[region]]
            permitted[region] -= len(nodes)
            if nodes:
                yield replace(gang, nodes=nodes), choice

    def _by_region(self, calls: Iterable[tuple[Gang, OfferingChoice]]) -> list[tuple[Offering, int]]:
        """Return an offering and the number of nodes for each region."""
        counts: dict[str, tuple[Offering, int]] = {}
        for gang, choice in calls:
            assert choice.offering is not None
            region = self.rate.region(choice.offering)
            counts[region] = choice.offering, counts.get(region, (choice.offering, 0))[1] + len(gang.nodes)
        return list(counts.values())

    def _hidden_siblings(self, start: GangStart) -> list[str]:
        """Return the siblings that are up and have no known instance: the others must not start in another zone."""
        names = dict.fromkeys(node for job in start.jobs for node in job.nodes if node in self.observed.pools)
        return [name for name in names if is_up(self.observed.slurm.nodes[name]) and not self.observed.has(name)]

    def _wait_for(self, hidden: Sequence[str], start: GangStart) -> None:
        """Wait until EC2 shows the instances of siblings. After the time that a new instance may need for that, give up
        the start with those that run no job: a node that slurmctld hears stays up however long EC2 hides its instance."""
        bound, kind = self.observed.policy.settle_seconds, ObservationKind.NODE_WITHOUT_INSTANCE
        waited = {node: self.changes.seconds_seen(kind, node, bound) for node in hidden}
        node = max(waited, key=lambda name: waited[name])
        if waited[node] < bound:
            self.changes.schedule_pass(self.observed.now + RETRY_SECONDS)
            return
        unused = (name for name in hidden if name not in self.observed.started)
        text = f"EC2 does not show the instance of {node}, so its zone is not known"
        self._give_up(replace(start, nodes=(*start.nodes, *unused)), "GONE", text)

    def _batch(self, start: GangStart, gang: Gang) -> None:
        """Launch as many nodes at each offering as it can, with one call for each launch; give up the others."""
        observed, pool = self.observed, self.observed.policy.pools[gang.pool]
        jobs: dict[str, list[SlurmJob]] = {}
        for job in start.jobs:
            jobs.setdefault(job.nodes[0], []).append(job)
        breaker = self.changes.state.breakers.get(gang.pool)
        parts = deque(split(gang.nodes, observed.policy.launch_batch if breaker is None else 1))
        while parts:
            nodes = parts.popleft()
            part = _part(gang, nodes, jobs)
            if not self._probe(gang.pool):
                return
            gang_with_regions = self._with_regions(part, start.jobs)
            choice = choose(
                gang_with_regions,
                pool,
                self.changes.state,
                observed.policy,
                self.changes.ledger,
                self.used,
                observed.now,
            )
            if choice.offering is None:
                self._exhausted(start.only(node for part in (nodes, *parts) for node in part), part, choice)
                return
            if self.calls.waits(choice.offering, gang.pool):
                return
            if choice.room < len(nodes):
                # The lease of a part may be longer than that of the whole: its offering is chosen again.
                parts.extendleft((nodes[choice.room :], nodes[: choice.room]))
                continue
            if (count := self.rate.of_batch(choice.offering, len(nodes))) == 0:
                self._wait_for_tokens(start, [node for part in (nodes, *parts) for node in part], pool, choice.offering)
                return
            if count < len(nodes):
                parts.extendleft((nodes[count:], nodes[:count]))
                continue
            self._launch(part, choice, [part.nodes])

    def _wait_for_tokens(self, start: GangStart, nodes: Sequence[str], pool: PoolPolicy, offering: Offering) -> None:
        """Let the nodes of a batch wait for a later pass; give up those that AWS launches too late."""
        self.changes.schedule_pass(self.observed.now + TRICKLE_SECONDS)
        patience = RESUME_TIMEOUT_SHARE * pool.resume_timeout
        count = floor(self.rate.available(offering) + patience * self.observed.policy.launch_per_second)
        if late := nodes[count:]:
            self._give_up(start.only(late), "RATE", self.rate.refusal(offering, len(nodes), patience, patience))

    def _with_regions(self, gang: Gang, jobs: Iterable[SlurmJob]) -> Gang:
        """Return the gang with the other regions in which its jobs' data may be; without a job, only the own region."""
        if len(self.observed.policy.regions) == 1:
            return gang
        job_ids = frozenset(gang.jobs)
        return replace(
            gang, regions=residency.allowed_regions(self.observed.policy, [job for job in jobs if job.id in job_ids])
        )

    def _attempts(self, gang: Gang, choice: OfferingChoice, parts: Iterable[tuple[str, ...]]) -> tuple[Attempt, ...]:
        assert choice.offering is not None
        # Only attempts of this start count: after the loss of the journal, count and token are the same again. A start
        # in the future has the time of a clock that was set back later: then all known attempts may belong to it.
        started = (
            gang.started if gang.started is not None and gang.started <= self.observed.now + CLOCK_SKEW_SECONDS else 0.0
        )
        earlier_attempts = Counter(
            attempt.nodes
            for attempt in self.by_gang.get(gang.key, ())
            if attempt.offering == choice.offering.key and attempt.jobs == gang.jobs and attempt.created_at >= started
        )
        pool = self.observed.policy.pools[gang.pool]
        return attempts_for(
            gang, parts, choice.offering, pool, self.observed.policy, earlier_attempts, self.observed.now
        )

    def _launch(self, gang: Gang, choice: OfferingChoice, parts: Iterable[tuple[str, ...]]) -> None:
        offering = choice.offering
        assert offering is not None
        attempts = self._attempts(gang, choice, parts)
        self.rate.take(offering, len(gang.nodes))
        usd = sum(attempt.hold_usd for attempt in attempts)
        warning = self.changes.ledger.warning(gang.account, gang.pool, usd)
        launch = Launch(gang, offering, attempts, tags_of(attempts[0], self.observed.policy))
        self.changes.launch(launch, {attempt.token: hold_of(attempt, self.observed.now) for attempt in attempts})
        self.used[offering.key] += len(gang.nodes)
        self.calls.tokens_sent.update(attempt.token for attempt in attempts)
        self.changes.record(
            "launch",
            text=offering.key,
            nodes=gang.nodes,
            jobs=gang.jobs,
            pool=gang.pool,
            usd=usd,
            offering=offering.key,
            usd_hour=offering.usd_hour,
            account=gang.account,
            tokens=[attempt.token for attempt in attempts],
            rejected=[asdict(rejection) for rejection in choice.rejected],
            **({"over": warning} if warning else {}),
        )

    def _exhausted(self, start: GangStart, gang: Gang, choice: OfferingChoice) -> None:
        code, text = choice.verdict()
        rejected = [asdict(rejection) for rejection in choice.rejected]
        self.changes.record("exhausted", code, text, gang.nodes, gang.jobs, gang.pool, rejected=rejected)
        idle = idle_nodes_to_leave(self.observed, self.changes, start.jobs, choice.rejected)
        self._give_up(replace(start, nodes=(*start.nodes, *idle)), code, text)

    def _probe(self, pool: str) -> bool:
        """Return whether the pool may launch; after the wait of an open breaker one launch is permitted as a probe."""
        if pool not in self.changes.state.breakers:
            return True
        if pool in self.probing:
            self.changes.schedule_pass(self.observed.now + RETRY_SECONDS)
            return False
        self.probing.add(pool)
        return True


def _part(gang: Gang, nodes: tuple[str, ...], jobs: Mapping[str, list[SlurmJob]]) -> Gang:
    """Return a gang of some nodes of a batch, with their jobs."""
    node_jobs = [job for node in nodes for job in jobs.get(node, ())]
    return batch_gang(gang.key, gang.pool, gang.account, nodes, node_jobs)
