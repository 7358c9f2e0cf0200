"""Provisioning: each start is refused, repeated or launched at an offering."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

from landbridge.burst.model import Attempt, CircuitBreaker, Gang, Launch, ObservationKind, SlurmJob
from landbridge.burst.reconcile import registration, residency
from landbridge.burst.reconcile.attempts import is_forgettable
from landbridge.burst.reconcile.budget import hold_of
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.clock_skew import CLOCK_SKEW_SECONDS
from landbridge.burst.reconcile.gangs import GangStart, batch_gang
from landbridge.burst.reconcile.launch_attempts import attempts_for, split, tags_of
from landbridge.burst.reconcile.node_states import is_up
from landbridge.burst.reconcile.observed import FORGOTTEN, Observed
from landbridge.burst.reconcile.offerings import OfferingChoice, choose
from landbridge.timestamps import iso

#: A gang that is not launched after this share of ResumeTimeout is given up, so that Slurm tries it again from the
#: start.
RESUME_TIMEOUT_SHARE = 0.5
#: Number of instances of a booting node that may vanish for the same jobs; after one more, the node is set down.
MAX_VANISHED_INSTANCES = 2
NO_ANSWER = "AWS did not say in time whether it launches the instances"
RETRY_SECONDS = 5.0


@dataclass(slots=True)
class Provisioning:
    """Provisioning of one pass. `used`: number of instances by offering; `probing`: pools whose open breaker permits
    one launch as a probe."""

    observed: Observed
    changes: Changes
    used: Counter[str] = field(default_factory=Counter)
    probing: set[str] = field(default_factory=set)
    tokens_sent: set[str] = field(default_factory=set)  # tokens of the calls of this pass
    by_gang: dict[str, list[Attempt]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attempt in self.changes.attempts.values():
            self.by_gang.setdefault(attempt.gang, []).append(attempt)
            if attempt.offering:
                self.used[attempt.offering] += len(attempt.nodes if attempt.ended is None else attempt.instances)

    def serve(self, start: GangStart) -> None:
        """Launch a start as a whole, wait for it, or give it up."""
        if not self.changes.downed.isdisjoint(start.nodes):
            self._give_up(
                start, *next(self.changes.down_reasons[node] for node in start.nodes if node in self.changes.downed)
            )
            return
        refusal = self._refusal(start) or self._vanished(start)
        late = self._late(start)
        if refusal is None and late:
            start, refusal = start if start.all_or_nothing else start.only(late), ("NETWORK", NO_ANSWER)
        if refusal is not None:
            self._give_up(start, *refusal)
            return
        if self.observed.ec2 is None or self._throttled():
            return
        if start.all_or_nothing:
            self._whole(start)
        else:
            for gang in start.gangs:
                self._batch(start, gang)

    # Reasons not to launch at any offering.

    def _refusal(self, start: GangStart) -> tuple[str, str] | None:
        for job in start.jobs:
            if (reason := residency.reject_job_if_restricted(self.observed.policy, job)) is not None:
                return "RESIDENCY", reason
        for job in start.jobs:
            backoff = self.changes.backoffs.get(job.id)
            if backoff is not None and backoff.code == "GONE" and self.observed.now < backoff.until:
                return backoff.code, backoff.text
        pools = dict.fromkeys(self.observed.pools[node].name for node in start.nodes)
        for pool in pools:
            if pool in self.changes.state.drained:
                return "DRAINED", f"pool {pool} is drained: {self.changes.state.drained[pool]}"
        for pool in pools:
            breaker = self.changes.state.breakers.get(pool)
            if breaker is not None and (
                self.observed.now < breaker.until or self._has_other_probe(start, pool, breaker)
            ):
                is_own_failure = any(
                    attempt.code == breaker.code for gang in start.gangs for attempt in self._attempts_of(gang)
                )
                words = f"{breaker.code}: {breaker.message}" if breaker.message else breaker.code
                return (
                    ("CONFIG", words) if is_own_failure else ("BREAKER", f"pool {pool} is out of order since {words}")
                )
        return None

    def _has_other_probe(self, start: GangStart, pool: str, breaker: CircuitBreaker) -> bool:
        """Return whether another start probes whether instances of the pool register again."""
        attempts = (
            [attempt for gang in start.gangs for attempt in self._attempts_of(gang)] if start.all_or_nothing else []
        )
        return registration.is_probe_running(self.observed, breaker, pool) and all(
            attempt.created_at < breaker.until for attempt in attempts
        )

    def _attempts_of(self, gang: Gang) -> list[Attempt]:
        return self.by_gang.get(gang.key, [])

    def _vanished(self, start: GangStart) -> tuple[str, str] | None:
        """Return code and text if an instance of the start ended before its node registered, else None."""
        for gang in start.gangs:
            missing = set(gang.nodes)
            completed = [attempt for attempt in self._attempts_of(gang) if attempt.ended is not None]
            if gang.all_or_nothing:
                lost = sorted(
                    {node for attempt in completed if not attempt.code for node in attempt.nodes if node in missing}
                )
            else:
                launched = [attempt for attempt in completed if not attempt.code or attempt.instances]
                of_jobs = [attempt for attempt in launched if set(attempt.jobs) & set(gang.jobs) or not gang.jobs]
                recent = [
                    attempt
                    for attempt in of_jobs
                    if self.observed.now - attempt.created_at < self.observed.policy.pools[attempt.pool].resume_timeout
                ]
                times = Counter(node for attempt in recent for node in attempt.nodes if node in missing)
                lost = sorted(node for node, count in times.items() if count > MAX_VANISHED_INSTANCES)
            if lost:
                return "GONE", f"the instance of {lost[0]} ended before the node was up"
        return None

    def _late(self, start: GangStart) -> list[str]:
        """Return nodes whose launch was impossible or unanswered for too long."""
        is_blocked = self.observed.ec2 is None or self.observed.now < self.changes.state.throttled_until
        return [
            node
            for node in start.nodes
            if not self.observed.has(node) and (is_blocked or self._unanswered(node)) and self._waited_too_long(node)
        ]

    def _unanswered(self, node: str) -> bool:
        """Return whether a call for the node has had no result for longer than `settle_seconds`."""
        attempt = self.observed.open.get(node)
        return attempt is not None and self.observed.now - attempt.created_at > self.observed.policy.settle_seconds

    def _waited_too_long(self, node: str) -> bool:
        bound = RESUME_TIMEOUT_SHARE * self.observed.pools[node].resume_timeout
        starts = [job.started for job in self.observed.jobs.get(node, ()) if job.started is not None]
        waited = self.changes.seconds_seen(ObservationKind.NODE_WAITS_FOR_AWS, node, bound)
        return max([waited, *(self.observed.now - start for start in starts)]) > bound

    def _throttled(self) -> bool:
        until = self.changes.state.throttled_until
        self.changes.schedule_pass(until)
        return self.observed.now < until

    def _give_up(self, start: GangStart, code: str, text: str) -> None:
        self.changes.down(start.nodes, code, text, start.jobs)

    # Launches.

    def _whole(self, start: GangStart) -> None:
        """Launch all gangs of the start or none: the offerings of all are chosen before the first call."""
        calls: list[tuple[Gang, OfferingChoice, tuple[Attempt, ...]]] = []
        open_attempts: list[tuple[Gang, list[Attempt]]] = []
        if self._has_hidden_sibling(start):
            self.changes.schedule_pass(self.observed.now + RETRY_SECONDS)
            return
        ledger, used = self.changes.ledger.copy(), Counter(self.used)
        for gang in start.gangs:
            unknown = [attempt for attempt in self._attempts_of(gang) if attempt.ended is None]
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
            attempts = self._attempts(gang, choice, split(gang.nodes, self.observed.policy.launch_batch))
            for attempt in attempts:
                ledger.add(gang.account, gang.pool, attempt.hold_usd)
            used[choice.offering.key] += len(gang.nodes)
            calls.append((gang, choice, attempts))
        for gang, unknown in open_attempts:
            self._repeat(gang, unknown)
        for gang, choice, attempts in calls:
            self._launch(gang, choice, attempts)

    def _has_hidden_sibling(self, start: GangStart) -> bool:
        """Return whether EC2 does not show the instance of a sibling that is up: the others must not start in another
        zone."""
        names = {node for job in start.jobs for node in job.nodes if node in self.observed.pools}
        return any(is_up(self.observed.slurm.nodes[name]) and not self.observed.has(name) for name in names)

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
            if choice.room < len(nodes):
                parts.appendleft(nodes[choice.room :])
                part = _part(gang, nodes[: choice.room], jobs)
            self._launch(part, choice, self._attempts(part, choice, [part.nodes]))

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
            for attempt in self._attempts_of(gang)
            if attempt.offering == choice.offering.key and attempt.jobs == gang.jobs and attempt.created_at >= started
        )
        pool = self.observed.policy.pools[gang.pool]
        return attempts_for(
            gang, parts, choice.offering, pool, self.observed.policy, earlier_attempts, self.observed.now
        )

    def _launch(self, gang: Gang, choice: OfferingChoice, attempts: tuple[Attempt, ...]) -> None:
        offering = choice.offering
        assert offering is not None
        usd = sum(attempt.hold_usd for attempt in attempts)
        warning = self.changes.ledger.warning(gang.account, gang.pool, usd)
        launch = Launch(gang, offering, attempts, tags_of(attempts[0], self.observed.policy))
        self.changes.launch(launch, {attempt.token: hold_of(attempt, self.observed.now) for attempt in attempts})
        self.used[offering.key] += len(gang.nodes)
        self.tokens_sent.update(attempt.token for attempt in attempts)
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
        self._give_up(start, code, text)

    def _probe(self, pool: str) -> bool:
        """Return whether the pool may launch; after the wait of an open breaker one launch is permitted as a probe."""
        if pool not in self.changes.state.breakers:
            return True
        if pool in self.probing:
            self.changes.schedule_pass(self.observed.now + RETRY_SECONDS)
            return False
        self.probing.add(pool)
        return True

    # Calls with an unknown result.

    def _repeat(self, gang: Gang, open_attempts: list[Attempt]) -> None:
        """Repeat the same calls if the gang is unchanged; they return the instances that they have launched."""
        offering = self.observed.offerings.get(open_attempts[0].offering)
        self.tokens_sent.update(attempt.token for attempt in open_attempts)
        is_closed = (
            offering is not None and offering.opens is not None and self.observed.now < offering.opens
        )  # a clock was ahead
        if (
            offering is None
            or is_closed
            or not all(self.observed.is_powering_up(node) for attempt in open_attempts for node in attempt.nodes)
        ):
            self.tokens_sent.difference_update(attempt.token for attempt in open_attempts)
            return
        same = [attempt for attempt in open_attempts if attempt.offering == open_attempts[0].offering]
        nodes = tuple(node for attempt in same for node in attempt.nodes)
        self.changes.launches.append(
            Launch(
                replace(gang, nodes=nodes), offering, tuple(same), tags_of(same[0], self.observed.policy), repeated=True
            )
        )
        self.changes.record("repeat", text=offering.key, nodes=nodes, jobs=gang.jobs, pool=gang.pool)

    def repeat_batches(self) -> None:
        """Repeat calls of batches with an unknown result if all their nodes still power up."""
        if self.observed.ec2 is None or self._throttled():
            return
        for attempt in list(self.changes.attempts.values()):
            if attempt.ended is not None or attempt.all_or_nothing or attempt.token in self.tokens_sent:
                continue
            nodes = attempt.nodes
            if all(self.observed.is_powering_up(node) for node in nodes) and self.changes.downed.isdisjoint(nodes):
                gang = batch_gang(attempt.gang, attempt.pool, attempt.account, nodes, ())
                self._repeat(replace(gang, jobs=attempt.jobs), [attempt])

    def forget(self) -> None:
        """End the attempts whose calls are not repeated any more."""
        if self.observed.ec2 is None:
            return
        for token, attempt in list(self.changes.attempts.items()):
            if attempt.ended is not None or token in self.tokens_sent:
                continue
            if is_forgettable(attempt, self.observed):
                self.changes.attempts[token] = replace(attempt, ended=self.observed.now, code=FORGOTTEN)
                self.changes.record(
                    "forget", FORGOTTEN, iso(attempt.created_at), attempt.nodes, attempt.jobs, attempt.pool
                )
            else:
                self.changes.schedule_pass(attempt.created_at + self.observed.policy.settle_seconds + 1)


def _part(gang: Gang, nodes: tuple[str, ...], jobs: Mapping[str, list[SlurmJob]]) -> Gang:
    """Return a gang of some nodes of a batch, with their jobs."""
    node_jobs = [job for node in nodes for job in jobs.get(node, ())]
    return batch_gang(gang.key, gang.pool, gang.account, nodes, node_jobs)
