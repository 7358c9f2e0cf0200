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

#: A gang that is not launched by this part of ResumeTimeout is better tried again from the start.
RESUME_TIMEOUT_SHARE = 0.5
#: Instances that vanished while a node booted, for the same jobs: after that many the node is given up.
MAX_VANISHED_INSTANCES = 2
NO_ANSWER = "AWS did not say in time whether it launches the instances"
RETRY_SECONDS = 5.0


@dataclass(slots=True)
class Provisioning:
    """The launches of one pass. `used`: living instances by offering; `probing`: pools whose breaker lets one launch through."""

    observed: Observed
    changes: Changes
    used: Counter[str] = field(default_factory=Counter)
    probing: set[str] = field(default_factory=set)
    tokens_sent: set[str] = field(default_factory=set)  # tokens of open attempts that this pass calls with
    by_gang: dict[str, list[Attempt]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attempt in self.changes.attempts.values():
            self.by_gang.setdefault(attempt.gang, []).append(attempt)
            if attempt.offering:
                self.used[attempt.offering] += len(attempt.nodes if attempt.ended is None else attempt.instances)

    def serve(self, start: GangStart) -> None:
        """Launch, wait for, or give up everything that starts together."""
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

    # Reasons not to launch, whichever the offering.

    def _refusal(self, start: GangStart) -> tuple[str, str] | None:
        for job in start.jobs:
            if (why := residency.reject_job_if_restricted(self.observed.policy, job)) is not None:
                return "RESIDENCY", why
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
            if breaker is not None and (self.observed.now < breaker.until or self._probed(start, pool, breaker)):
                is_own_failure = any(
                    attempt.code == breaker.code for gang in start.gangs for attempt in self._tried(gang)
                )
                words = f"{breaker.code}: {breaker.message}" if breaker.message else breaker.code
                return (
                    ("CONFIG", words) if is_own_failure else ("BREAKER", f"pool {pool} is out of order since {words}")
                )
        return None

    def _probed(self, start: GangStart, pool: str, breaker: CircuitBreaker) -> bool:
        """Another start is to show whether machines of the pool join again."""
        attempts = [attempt for gang in start.gangs for attempt in self._tried(gang)] if start.all_or_nothing else []
        return registration.is_probe_running(self.observed, breaker, pool) and all(
            attempt.created_at < breaker.until for attempt in attempts
        )

    def _tried(self, gang: Gang) -> list[Attempt]:
        return self.by_gang.get(gang.key, [])

    def _vanished(self, start: GangStart) -> tuple[str, str] | None:
        """An instance that was launched for a start is gone before its node came up."""
        for gang in start.gangs:
            missing, tried = set(gang.nodes), [a for a in self._tried(gang) if a.ended is not None]
            if gang.all_or_nothing:
                lost = sorted({node for a in tried if not a.code for node in a.nodes if node in missing})
            else:
                launched = [a for a in tried if not a.code or a.instances]
                same = [a for a in launched if set(a.jobs) & set(gang.jobs) or not gang.jobs]
                recent = [
                    a
                    for a in same
                    if self.observed.now - a.created_at < self.observed.policy.pools[a.pool].resume_timeout
                ]
                times = Counter(node for attempt in recent for node in attempt.nodes if node in missing)
                lost = sorted(node for node, count in times.items() if count > MAX_VANISHED_INSTANCES)
            if lost:
                return "GONE", f"the instance of {lost[0]} ended before the node was up"
        return None

    def _late(self, start: GangStart) -> list[str]:
        """Return nodes whose launch was impossible or unanswered for too long."""
        blocked = self.observed.ec2 is None or self.observed.now < self.changes.state.throttled_until
        return [
            node
            for node in start.nodes
            if not self.observed.has(node) and (blocked or self._unanswered(node)) and self._waited_too_long(node)
        ]

    def _unanswered(self, node: str) -> bool:
        """A call for it was made, and repeated for a while."""
        attempt = self.observed.open.get(node)
        return attempt is not None and self.observed.now - attempt.created_at > self.observed.policy.settle_seconds

    def _waited_too_long(self, node: str) -> bool:
        bound = RESUME_TIMEOUT_SHARE * self.observed.pools[node].resume_timeout
        began = [job.started for job in self.observed.jobs.get(node, ()) if job.started is not None]
        waited = self.changes.seconds_seen(ObservationKind.NODE_WAITS_FOR_AWS, node, bound)
        return max([waited, *(self.observed.now - start for start in began)]) > bound

    def _throttled(self) -> bool:
        until = self.changes.state.throttled_until
        self.changes.schedule_pass(until)
        return self.observed.now < until

    def _give_up(self, start: GangStart, code: str, text: str) -> None:
        self.changes.down(start.nodes, code, text, start.jobs)

    # Launches.

    def _whole(self, start: GangStart) -> None:
        """Launch every gang of the start, or none: offerings for all are chosen before the first call."""
        calls: list[tuple[Gang, OfferingChoice, tuple[Attempt, ...]]] = []
        opened: list[tuple[Gang, list[Attempt]]] = []
        if self._unlocated(start):
            self.changes.schedule_pass(self.observed.now + RETRY_SECONDS)
            return
        ledger, used = self.changes.ledger.copy(), Counter(self.used)
        for gang in start.gangs:
            unknown = [attempt for attempt in self._tried(gang) if attempt.ended is None]
            if unknown:
                opened.append((gang, unknown))
                continue
            if any(node in self.observed.open for node in gang.nodes):
                return  # another start's call for one of the nodes has not ended
            if not self._probe(gang.pool):
                return
            pool = self.observed.policy.pools[gang.pool]
            located_gang = self._located(gang, start.jobs)
            choice = choose(
                located_gang, pool, self.changes.state, self.observed.policy, ledger, used, self.observed.now
            )
            if choice.offering is None:
                self._exhausted(start, gang, choice)
                return
            attempts = self._attempts(gang, choice, split(gang.nodes, self.observed.policy.launch_batch))
            for attempt in attempts:
                ledger.add(gang.account, gang.pool, attempt.hold_usd)
            used[choice.offering.key] += len(gang.nodes)
            calls.append((gang, choice, attempts))
        for gang, unknown in opened:
            self._again(gang, unknown)
        for gang, choice, attempts in calls:
            self._launch(gang, choice, attempts)

    def _unlocated(self, start: GangStart) -> bool:
        """Return whether EC2 does not show a sibling that is up: the others must not start in another zone meanwhile."""
        names = {node for job in start.jobs for node in job.nodes if node in self.observed.pools}
        return any(is_up(self.observed.slurm.nodes[name]) and not self.observed.has(name) for name in names)

    def _batch(self, start: GangStart, gang: Gang) -> None:
        """As many nodes at each offering as it takes, one call for each launch; what no offering takes is given up."""
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
            located_gang = self._located(part, start.jobs)
            choice = choose(
                located_gang, pool, self.changes.state, observed.policy, self.changes.ledger, self.used, observed.now
            )
            if choice.offering is None:
                self._exhausted(start.only(node for part in (nodes, *parts) for node in part), part, choice)
                return
            if choice.room < len(nodes):
                parts.appendleft(nodes[choice.room :])
                part = _part(gang, nodes[: choice.room], jobs)
            self._launch(part, choice, self._attempts(part, choice, [part.nodes]))

    def _located(self, gang: Gang, jobs: Iterable[SlurmJob]) -> Gang:
        """With the other regions that its jobs' data may be in: nodes that no job waits for start at home alone."""
        if len(self.observed.policy.regions) == 1:
            return gang
        job_ids = frozenset(gang.jobs)
        return replace(
            gang, regions=residency.allowed_regions(self.observed.policy, [job for job in jobs if job.id in job_ids])
        )

    def _attempts(self, gang: Gang, choice: OfferingChoice, parts: Iterable[tuple[str, ...]]) -> tuple[Attempt, ...]:
        assert choice.offering is not None
        # Of this start alone: after a journal was lost the count is the same again, and so is the token. A start that
        # lies in the future was dated by a clock that has been set back since: everything known may be of it.
        started = (
            gang.started if gang.started is not None and gang.started <= self.observed.now + CLOCK_SKEW_SECONDS else 0.0
        )
        before = Counter(
            attempt.nodes
            for attempt in self._tried(gang)
            if attempt.offering == choice.offering.key and attempt.jobs == gang.jobs and attempt.created_at >= started
        )
        pool = self.observed.policy.pools[gang.pool]
        return attempts_for(gang, parts, choice.offering, pool, self.observed.policy, before, self.observed.now)

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
        """A pool whose breaker has waited long enough gets one launch to show that it works again."""
        if pool not in self.changes.state.breakers:
            return True
        if pool in self.probing:
            self.changes.schedule_pass(self.observed.now + RETRY_SECONDS)
            return False
        self.probing.add(pool)
        return True

    # Calls with an unknown result.

    def _again(self, gang: Gang, opened: list[Attempt]) -> None:
        """The same calls once more, as long as the gang is as it was; they answer with what they launched."""
        offering = self.observed.offerings.get(opened[0].offering)
        self.tokens_sent.update(attempt.token for attempt in opened)
        shut = (
            offering is not None and offering.opens is not None and self.observed.now < offering.opens
        )  # a clock was ahead
        if (
            offering is None
            or shut
            or not all(self.observed.is_powering_up(n) for attempt in opened for n in attempt.nodes)
        ):
            self.tokens_sent.difference_update(attempt.token for attempt in opened)
            return
        same = [attempt for attempt in opened if attempt.offering == opened[0].offering]
        nodes = tuple(node for attempt in same for node in attempt.nodes)
        self.changes.launches.append(
            Launch(
                replace(gang, nodes=nodes), offering, tuple(same), tags_of(same[0], self.observed.policy), repeated=True
            )
        )
        self.changes.record("repeat", text=offering.key, nodes=nodes, jobs=gang.jobs, pool=gang.pool)

    def repeat_batches(self) -> None:
        """Repeat calls of batches with an unknown result, where all their nodes still power up."""
        if self.observed.ec2 is None or self._throttled():
            return
        for attempt in list(self.changes.attempts.values()):
            if attempt.ended is not None or attempt.all_or_nothing or attempt.token in self.tokens_sent:
                continue
            nodes = attempt.nodes
            if all(self.observed.is_powering_up(node) for node in nodes) and self.changes.downed.isdisjoint(nodes):
                gang = batch_gang(attempt.gang, attempt.pool, attempt.account, nodes, ())
                self._again(replace(gang, jobs=attempt.jobs), [attempt])

    def forget(self) -> None:
        """Give up asking after calls that will not be repeated."""
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
