"""Reconcile pass: observe EC2, Slurm and the journal, decide, write the intended actions, carry them out, write the outcomes.

Nothing is lost wherever this is cut off: an intention in the journal is carried out again under the same token, and what
is not in the journal is found in EC2 and in Slurm.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Protocol

from landbridge.burst.daemon.execute import MAX_PARALLEL_CALLS, SLURM_FAILED, perform
from landbridge.burst.daemon.outcomes import outcome_records
from landbridge.burst.model import (
    Action,
    ActionOutcome,
    BurstPolicy,
    DecisionRecord,
    Ec2View,
    Launch,
    SetAddresses,
    SlurmView,
    State,
)
from landbridge.burst.model.errors import AwsError, ErrorKind, classify
from landbridge.burst.model.ports import Ec2Port, JournalPort, SlurmPort
from landbridge.burst.reconcile.core import reconcile
from landbridge.burst.reconcile.outcome_state import apply_outcome
from landbridge.burst.slurm.slurm import SlurmError

#: Places that one pass may try one after the other before it looks at everything else again.
MAX_ROUNDS = 16


class PassObserver(Protocol):
    """Observer of a pass: metrics, log, snapshot for the other controller, watchdog."""

    def failed(self, side: str, code: str) -> None: ...

    def seen(self, slurm: SlurmView, ec2: Ec2View | None, state: State) -> None: ...

    def recorded(self, records: tuple[DecisionRecord, ...]) -> None: ...

    def performed(self, action: Action, outcome: ActionOutcome, now: float) -> None: ...

    def written(self) -> None: ...

    def go_on(self) -> bool:
        """Asked between actions; False ends the pass there."""


class NullObserver:
    """Null observer."""

    def failed(self, side: str, code: str) -> None: ...

    def seen(self, slurm: SlurmView, ec2: Ec2View | None, state: State) -> None: ...

    def recorded(self, records: tuple[DecisionRecord, ...]) -> None: ...

    def performed(self, action: Action, outcome: ActionOutcome, now: float) -> None: ...

    def written(self) -> None: ...

    def go_on(self) -> bool:
        return True


def one_pass(
    store: JournalPort,
    ec2: Ec2Port,
    slurm: SlurmPort,
    policy: BurstPolicy,
    now: float,
    *,
    notice: PassObserver | None = None,
    workers: int = MAX_PARALLEL_CALLS,
    clock: Callable[[], float] | None = None,
) -> float | None:
    """Bring EC2 in line with Slurm; returns when the next pass is due, where that is before the usual one.

    A launch that found no room is tried at the next offering at once, after another look. `workers=1` makes every call in
    the order of the actions. `clock`: what time it is later in the pass, which may take minutes where AWS does not answer;
    without one it stays `now`.
    """
    turn = _Round(store, ec2, slurm, policy, clock or (lambda: now), notice or NullObserver(), workers)
    for _ in range(MAX_ROUNDS):
        due, again = turn.run()
        if not again:
            return due
    return turn.clock()


@dataclass(frozen=True)
class _Round:
    store: JournalPort
    ec2: Ec2Port
    slurm: SlurmPort
    policy: BurstPolicy
    clock: Callable[[], float]
    notice: PassObserver
    workers: int

    def run(self) -> tuple[float | None, bool]:
        """Observe, decide and act once; return when the next pass is due, and whether to repeat at once."""
        needs_pending = bool(self.policy.promotions or self.store.load().backoffs)
        cloud = self._cloud()
        try:
            slurm_view = self._slurm(cloud, needs_pending)
        except SlurmError:
            self.notice.failed("slurm", SLURM_FAILED)
            return None, False
        state = self.store.load()
        self.notice.seen(slurm_view, cloud, state)
        # Read after the journal: an order must not seem to come from the future.
        decision = reconcile(slurm_view, cloud, state, self.policy, self.clock())
        launches = [action for action in decision.actions if isinstance(action, Launch)]
        unwritten = [a.token for launch in launches for a in launch.attempts if a.token not in decision.state.attempts]
        if unwritten:
            raise AssertionError(f"launches that the journal would not know: {', '.join(unwritten)}")
        self.store.save(state, decision.state)
        self._record(decision.records)
        self.notice.written()
        again = self._act(decision.actions, decision.state)
        self.notice.written()
        return decision.next_pass, again

    def _cloud(self) -> Ec2View | None:
        try:
            return self.ec2.view()
        except AwsError as error:
            self.notice.failed("ec2", error.code)
            return None

    def _slurm(self, cloud: Ec2View | None, needs_pending: bool) -> SlurmView:
        named = Counter(instance.node for instance in cloud.instances if instance.node) if cloud else Counter()
        twins = sorted(node for node, count in named.items() if count > 1)
        if twins:
            return self.slurm.view(self.policy, needs_pending, twins)
        return self.slurm.view(self.policy, needs_pending)

    def _act(self, actions: Iterable[Action], state: State) -> bool:
        """Do them; whether another round now may launch what this one could not."""
        again, addresses = False, dict[str, str]()
        for action, outcome in self._performed(tuple(actions)):
            state = self._absorb(state, action, outcome)
            if isinstance(action, Launch):
                addresses |= outcome.addresses
                again |= _worth_more(action, outcome)
        if addresses:
            # Once for all launches. Where it fails, the next pass does it.
            set_addresses = SetAddresses(addresses)
            self._absorb(state, set_addresses, perform(set_addresses, self.ec2, self.slurm))
        return again and self.notice.go_on()

    def _absorb(self, state: State, action: Action, outcome: ActionOutcome) -> State:
        """Write down how an action ended, before anybody hears of it."""
        now = self.clock()
        after = apply_outcome(state, action, outcome, self.policy, now)
        self.store.save(state, after)
        self._record(outcome_records(action, outcome, now))
        self.notice.performed(action, outcome, now)
        return after

    def _performed(self, actions: tuple[Action, ...]) -> Iterator[tuple[Action, ActionOutcome]]:
        launches = [action for action in actions if isinstance(action, Launch)]
        if self.workers < 2 or len(launches) < 2:
            for action in actions:
                if not self.notice.go_on():
                    return
                yield action, perform(action, self.ec2, self.slurm, self.workers)
            return
        # The journal is written by this thread alone; a launch's own calls may take many seconds each.
        with ThreadPoolExecutor(self.workers, thread_name_prefix="launch") as pool:
            running = {pool.submit(perform, launch, self.ec2, self.slurm, self.workers): launch for launch in launches}
            try:
                for action in actions:
                    if not isinstance(action, Launch):
                        yield action, perform(action, self.ec2, self.slurm)
                for ended in as_completed(running):
                    if not ended.cancelled():
                        yield running[ended], ended.result()
                    if not self.notice.go_on():
                        _cancel(running)
            finally:
                _cancel(running)

    def _record(self, records: tuple[DecisionRecord, ...]) -> None:
        if records:
            self.store.record(records)
            self.notice.recorded(records)


def _worth_more(action: Launch, outcome: ActionOutcome) -> bool:
    """Return whether nodes have no instance for a reason that may not hold at another offering."""
    if outcome.code and classify(outcome.code) in (ErrorKind.THROTTLE, ErrorKind.NETWORK):
        return False
    return any(node not in outcome.instances for node in action.gang.nodes)


def _cancel(running: Iterable[Future[ActionOutcome]]) -> None:
    for future in running:
        future.cancel()
