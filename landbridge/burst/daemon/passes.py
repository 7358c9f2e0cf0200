"""Reconcile pass: observe EC2, Slurm and the journal, decide, write the intended actions, carry them out, write the outcomes.

A pass may be interrupted at any point without a loss: an action in the journal is repeated with the same token, and the
next pass observes in EC2 and Slurm everything that is not in the journal.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from landbridge.burst.daemon.execute import MAX_PARALLEL_CALLS, SLURM_FAILED, perform
from landbridge.burst.daemon.outcomes import outcome_records
from landbridge.burst.model import (
    Action,
    ActionOutcome,
    BurstPolicy,
    DecisionRecord,
    Ec2View,
    HostClock,
    Launch,
    SetAddresses,
    SlurmView,
    State,
)
from landbridge.burst.model.errors import AwsError, classify
from landbridge.burst.model.ports import Ec2Port, JournalPort, SlurmPort
from landbridge.burst.reconcile.clock_jumps import correct_holds
from landbridge.burst.reconcile.core import reconcile
from landbridge.burst.reconcile.launching.ended_launches import expected_instances
from landbridge.burst.reconcile.outcome_state import apply_outcome
from landbridge.burst.slurm.slurm import SlurmError

#: Offerings that one pass may try one after the other.
MAX_ROUNDS = 16
#: No job states data.
NO_DATA: Mapping[int, float | None] = MappingProxyType({})


class PassObserver(Protocol):
    """Observer of a pass, for metrics, log, the snapshot for the other controller and the watchdog."""

    def failed(self, side: str, code: str) -> None: ...

    def seen(self, slurm: SlurmView, ec2: Ec2View | None, state: State) -> None: ...

    def saved(self, state: State) -> None: ...

    def recorded(self, records: tuple[DecisionRecord, ...]) -> None: ...

    def performed(self, action: Action, outcome: ActionOutcome, now: float) -> None: ...

    def written(self) -> None: ...

    def may_continue(self) -> bool:
        """Return whether the pass may continue with the next action; False ends the pass."""


class NullObserver:
    """Null observer."""

    def failed(self, side: str, code: str) -> None: ...

    def seen(self, slurm: SlurmView, ec2: Ec2View | None, state: State) -> None: ...

    def saved(self, state: State) -> None: ...

    def recorded(self, records: tuple[DecisionRecord, ...]) -> None: ...

    def performed(self, action: Action, outcome: ActionOutcome, now: float) -> None: ...

    def written(self) -> None: ...

    def may_continue(self) -> bool:
        return True


def one_pass(
    store: JournalPort,
    ec2: Ec2Port,
    slurm: SlurmPort,
    policy: BurstPolicy,
    now: float,
    *,
    observer: PassObserver | None = None,
    workers: int = MAX_PARALLEL_CALLS,
    clock: Callable[[], float] | None = None,
    uptime: Callable[[], tuple[str, float]] | None = None,
    seconds_to_aws: Mapping[int, float | None] | None = NO_DATA,
) -> float | None:
    """Reconcile EC2 with Slurm; return the time of the next pass if it is before the usual one.

    A launch with insufficient capacity is tried at the next offering at once, after another observation. `workers=1`
    makes all calls in the order of the actions. `clock`: the current time later in the pass, which may take minutes if
    AWS does not answer; without it the time stays `now`. `uptime`: the id of the host's boot, and the seconds since then;
    without it no jump of the clock is known. `seconds_to_aws`: that of SlurmView.
    """
    reconcile_round = _Round(
        store, ec2, slurm, policy, clock or (lambda: now), uptime, observer or NullObserver(), workers, seconds_to_aws
    )
    for _ in range(MAX_ROUNDS):
        due, needs_round = reconcile_round.run()
        if not needs_round:
            return due
    return reconcile_round.clock()


@dataclass(frozen=True)
class _Round:
    store: JournalPort
    ec2: Ec2Port
    slurm: SlurmPort
    policy: BurstPolicy
    clock: Callable[[], float]
    uptime: Callable[[], tuple[str, float]] | None
    observer: PassObserver
    workers: int
    seconds_to_aws: Mapping[int, float | None] | None

    def run(self) -> tuple[float | None, bool]:
        """Observe, decide and act once; return when the next pass is due, and whether another round has to follow at
        once."""
        cloud = self._cloud()
        try:
            slurm_view = self._slurm(cloud)
        except SlurmError:
            self.observer.failed("slurm", SLURM_FAILED)
            return None, False
        state = self.store.load()
        self.observer.seen(slurm_view, cloud, state)
        # The clock is read after the journal: no order may be later than `now`.
        now = self.clock()
        decision = reconcile(slurm_view, cloud, self._corrected(state, now), self.policy, now)
        launches = [action for action in decision.actions if isinstance(action, Launch)]
        unwritten = [a.token for launch in launches for a in launch.attempts if a.token not in decision.state.attempts]
        if unwritten:
            raise AssertionError(f"launches that are not in the journal: {', '.join(unwritten)}")
        self.store.save(state, decision.state)
        self.observer.saved(decision.state)
        self._record(decision.records)
        self.observer.written()
        needs_round = self._act(decision.actions, decision.state)
        self.observer.written()
        return decision.next_pass, needs_round

    def _corrected(self, state: State, now: float) -> State:
        if self.uptime is None:
            return state
        boot, seconds = self.uptime()
        return correct_holds(state, HostClock(boot, now - seconds))

    def _cloud(self) -> Ec2View | None:
        try:
            return self.ec2.view(expected_instances(self.store.load()))
        except AwsError as error:
            self.observer.failed("ec2", error.code)
            return None

    def _slurm(self, cloud: Ec2View | None) -> SlurmView:
        state, instances = self.store.load(), cloud.instances if cloud else ()
        counts = Counter(instance.node for instance in instances if instance.node)
        with_duplicates = {node for node, count in counts.items() if count > 1}
        # A failing instance that EC2 does not terminate may be an earlier one of its node.
        failing = {id_ for id_, status in state.instance_statuses.items() if status.event or status.impaired}
        with_failing = {instance.node for instance in instances if instance.node and instance.id in failing}
        # A promotion may concern any pending job; else only jobs with a back-off are needed.
        pending, all_pending = frozenset(state.backoffs), bool(self.policy.promotions)
        need_address = sorted(with_duplicates | with_failing)
        view = self.slurm.view(self.policy, pending, need_address, all_pending=all_pending)
        return replace(view, seconds_to_aws=self.seconds_to_aws)

    def _act(self, actions: Iterable[Action], state: State) -> bool:
        """Carry out the actions; return whether another round may launch nodes that this one could not."""
        needs_round, addresses = False, dict[str, str]()
        for action, outcome in self._performed(tuple(actions)):
            state = self._absorb(state, action, outcome)
            if isinstance(action, Launch):
                addresses |= outcome.addresses
                needs_round |= _may_launch_elsewhere(action, outcome)
        if addresses:
            # Once for all launches. If it fails, the next pass repeats it.
            set_addresses = SetAddresses(addresses)
            self._absorb(state, set_addresses, perform(set_addresses, self.ec2, self.slurm))
        return needs_round and self.observer.may_continue()

    def _absorb(self, state: State, action: Action, outcome: ActionOutcome) -> State:
        """Write the outcome of an action to the journal, before it is reported."""
        now = self.clock()
        after = apply_outcome(state, action, outcome, self.policy, now)
        self.store.save(state, after)
        self.observer.saved(after)
        self._record(outcome_records(action, outcome, now))
        self.observer.performed(action, outcome, now)
        return after

    def _performed(self, actions: tuple[Action, ...]) -> Iterator[tuple[Action, ActionOutcome]]:
        launches = [action for action in actions if isinstance(action, Launch)]
        if self.workers < 2 or len(launches) < 2:
            for action in actions:
                if not self.observer.may_continue():
                    return
                yield action, perform(action, self.ec2, self.slurm, self.workers)
            return
        # Only this thread writes the journal; each call of a launch may take many seconds.
        with ThreadPoolExecutor(self.workers, thread_name_prefix="launch") as pool:
            running = {pool.submit(perform, launch, self.ec2, self.slurm, self.workers): launch for launch in launches}
            try:
                for action in actions:
                    if not isinstance(action, Launch):
                        yield action, perform(action, self.ec2, self.slurm)
                for future in as_completed(running):
                    if not future.cancelled():
                        yield running[future], future.result()
                    if not self.observer.may_continue():
                        _cancel(running)
            finally:
                _cancel(running)

    def _record(self, records: tuple[DecisionRecord, ...]) -> None:
        if records:
            self.store.record(records)
            self.observer.recorded(records)


def _may_launch_elsewhere(action: Launch, outcome: ActionOutcome) -> bool:
    """Return whether nodes have no instance for a reason that may not apply to another offering."""
    if outcome.code and classify(outcome.code).is_transient:
        return False
    return any(node not in outcome.instances for node in action.gang.nodes)


def _cancel(running: Iterable[Future[ActionOutcome]]) -> None:
    for future in running:
        future.cancel()
