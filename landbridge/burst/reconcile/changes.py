"""What a pass has decided so far: actions being gathered, the journal as it will be. The only mutable thing in the core."""

from collections.abc import Iterable, KeysView, Mapping
from dataclasses import dataclass, field, replace

from landbridge.burst.model import (
    Action,
    Attempt,
    Backoff,
    BudgetHold,
    CloudInstance,
    CommentJob,
    DecisionRecord,
    Down,
    Launch,
    PowerUp,
    Promote,
    Renew,
    SetAddresses,
    SlurmJob,
    State,
    Terminate,
)
from landbridge.burst.model.timestamps import iso
from landbridge.burst.reconcile.budget import Ledger
from landbridge.burst.reconcile.clock_skew import BACKOFF_SECONDS
from landbridge.burst.reconcile.observed import Observed, token_of

#: Longer than this between two looks nobody has looked, or a clock has jumped: what is suspected was not seen meanwhile.
MAX_SECONDS_BETWEEN_PASSES = 30.0
#: When there last was something to suspect, among the suspicions themselves.
LOOKED = "looked"


@dataclass(slots=True)
class Changes:
    """Grows during a pass; `actions()` is its end."""

    observed: Observed
    state: State
    ledger: Ledger
    why: dict[str, tuple[str, str]] = field(default_factory=dict)  # of nodes that are given up
    ended: set[str] = field(default_factory=set)
    launches: list[Launch] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    tells: list[CommentJob] = field(default_factory=list)
    promotes: list[Promote] = field(default_factory=list)
    power_ups: list[PowerUp] = field(default_factory=list)
    records: list[DecisionRecord] = field(default_factory=list)
    attempts: dict[str, Attempt] = field(default_factory=dict)
    holds: dict[str, BudgetHold] = field(default_factory=dict)
    backoffs: dict[int, Backoff] = field(default_factory=dict)
    suspects: dict[str, float] = field(default_factory=dict)
    next_pass: float | None = None
    _unwatched: float = 0.0
    _downs: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _ends: dict[str, list[str]] = field(default_factory=dict)
    _renews: dict[float, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.attempts, self.holds = dict(self.state.attempts), dict(self.state.holds)
        self.backoffs = dict(self.state.backoffs)
        looked = self.state.suspects.get(LOOKED, self.observed.now)
        self._unwatched = max(0.0, self.observed.now - looked - MAX_SECONDS_BETWEEN_PASSES)

    @property
    def downed(self) -> KeysView[str]:
        return self.why.keys()

    def due(self, at: float | None) -> None:
        """A pass is needed at `at`."""
        if at is not None and at > self.observed.now and (self.next_pass is None or at < self.next_pass):
            self.next_pass = at

    def seen_for(self, what: str, bound: float | None = None) -> float:
        """How long `what` has been so, look after look; with a `bound`, a pass is due when that is reached.

        Time in which nobody looked does not count: after an hour's absence, or a clock's jump, one look proves nothing.
        """
        first = min(self.observed.now, self.state.suspects.get(what, self.observed.now) + self._unwatched)
        self.suspects[what] = first
        self.suspects[LOOKED] = self.observed.now
        if bound is not None:
            self.due(first + bound)
        return self.observed.now - first

    def keep(self, what: str) -> bool:
        """Whether `what` was noted; it stays noted."""
        at = self.state.suspects.get(what)
        if at is not None:
            self.suspects[what] = at
        return at is not None

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

    def end(self, instances: Iterable[str], why: str, text: str = "", nodes: Iterable[str] = ()) -> None:
        """Terminate, once."""
        fresh = [instance for instance in instances if instance not in self.ended]
        if not fresh or self.observed.ec2 is None:
            return
        self.ended.update(fresh)
        self._ends.setdefault(why, []).extend(fresh)
        self.record("terminate", why, text, nodes, instances=fresh)

    def down(
        self,
        nodes: Iterable[str],
        code: str,
        text: str,
        jobs: Iterable[SlurmJob] = (),
    ) -> None:
        """Give nodes up, with the instances they have, and tell the jobs why."""
        fresh = [node for node in dict.fromkeys(nodes) if node not in self.why]
        if not fresh:
            return
        self.why.update(dict.fromkeys(fresh, (code, text)))
        self._downs.setdefault((code, text), []).extend(fresh)
        pool = self.observed.pools[fresh[0]].name if fresh[0] in self.observed.pools else ""
        told = sorted({job.id for job in jobs})
        self.record("down", code, text, fresh, told, pool)
        for job in told:
            self.back_off(job, code, text)
        self.end((one.id for node in fresh for one in self.observed.living.get(node, ())), code, text, fresh)
        self.due(self.observed.now + 2)  # the jobs are pending then, and can be told

    def back_off(self, job: int, code: str, text: str) -> None:
        """The job is not to be tried again for a while, longer each time, and is told so."""
        before = self.backoffs.get(job)
        tries = before.tries if before else 0
        if before is not None and self.observed.now < before.until:
            until = before.until  # the same failure, seen again
        else:
            until = self.observed.now + min(BACKOFF_SECONDS[1], BACKOFF_SECONDS[0] * 2 ** min(tries, 10))
            tries += 1
        self.backoffs[job] = Backoff(until, tries, code, text)

    def launch(self, launch: Launch, holds: Mapping[str, BudgetHold]) -> None:
        """Launch, and have it in the journal before: the attempts and the money that they may cost."""
        self.launches.append(launch)
        self.attempts.update({attempt.token: attempt for attempt in launch.attempts})
        for token, hold in holds.items():
            self.holds[token] = hold
            self.ledger.add(hold.account, hold.pool, hold.usd)

    def extend(self, instance: CloudInstance, until: float) -> str | None:
        """Hold what an instance costs until `until` beyond its lease; or why a cap refuses that."""
        token = token_of(instance)
        hold = self.holds.get(token)
        if hold is None:
            return None
        usd = hold.usd_hour * max(0.0, until - max(instance.lease or 0.0, self.observed.now)) / 3600
        refusal = self.ledger.refusal(hold.account, hold.pool, usd)
        if refusal is None and usd:
            self.ledger.add(hold.account, hold.pool, usd)
            self.holds[token] = replace(hold, usd=hold.usd + usd)
        return refusal

    def renew(self, instance: str, until: float) -> None:
        self._renews.setdefault(until, []).append(instance)

    def power_up(self, nodes: Iterable[str], pool: str, offering: str) -> None:
        wanted = tuple(nodes)
        self.power_ups.append(PowerUp(wanted))
        self.record("power-up", text=f"the pool keeps nodes running; {offering} takes them", nodes=wanted, pool=pool)

    def actions(self) -> tuple[Action, ...]:
        """First what stops cost and frees jobs, then launches, then the rest."""
        found: list[Action] = [Down(tuple(nodes), *why) for why, nodes in self._downs.items()]
        found += [Terminate(tuple(ids), why) for why, ids in self._ends.items()]
        found += [SetAddresses(dict(self.addresses))] if self.addresses else []
        found += self.launches
        found += self.tells
        for until, renewed in sorted(self._renews.items()):
            if ids := sorted(set(renewed) - self.ended):
                found.append(Renew(tuple(ids), until))
                self.record("renew", text=iso(until), instances=ids)
        found += self.promotes
        found += self.power_ups
        return tuple(found)
