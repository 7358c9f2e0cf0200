"""Execution of one action. A failed call is an outcome, for the journal and the next pass; a defect of the controller is raised."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from landbridge.burst.model import (
    Action,
    ActionOutcome,
    Attempt,
    CommentJob,
    Down,
    Launch,
    PowerUp,
    Promote,
    Renew,
    SetAddresses,
    Terminate,
)
from landbridge.burst.model.errors import AwsError, ErrorKind, classify
from landbridge.burst.model.ports import Ec2Port, SlurmPort
from landbridge.burst.slurm.slurm import SlurmError

T = TypeVar("T")
R = TypeVar("R")
#: Code of a Slurm command that failed or timed out.
SLURM_FAILED = "SLURM"
#: Calls at a time; as many connections as the client keeps.
MAX_PARALLEL_CALLS = 4


def perform(action: Action, ec2: Ec2Port, slurm: SlurmPort, workers: int = MAX_PARALLEL_CALLS) -> ActionOutcome:
    """Carry out `action`; a Launch's attempts and holds have to be in the journal already."""
    match action:
        case Launch():
            return _launch(action, ec2, workers)
        case Terminate():
            return _aws(lambda: ec2.terminate(action.instances))
        case Renew():
            return _aws(lambda: ec2.renew(action.instances, action.until))
        case Down():
            return _slurm(lambda: slurm.down(action.nodes, reason(action)))
        case SetAddresses():
            return _slurm(lambda: slurm.set_addresses(action.addresses))
        case CommentJob():
            return _slurm(lambda: slurm.tell(action.job, action.text, action.until))
        case Promote():
            return _slurm(lambda: slurm.promote(action.job, action.partitions))
        case PowerUp():
            return _slurm(lambda: slurm.start(action.nodes))


def reason(action: Down) -> str:
    """A node's reason in Slurm: one short line, recognisably ours."""
    return f"landbridge: {action.code} {' '.join(action.text.split())}"[:200].replace('"', "'").rstrip()


def _launch(action: Launch, ec2: Ec2Port, workers: int) -> ActionOutcome:
    """All calls of a gang. Where one is refused and the gang is a whole, what the others started is ended again.

    Where a call was only throttled or its end is not known, nothing is ended: the same calls once more, by the same
    tokens, complete the gang, and a token whose instances were ended is spent.
    """
    ended = run_all(lambda attempt: _run(action, attempt, ec2), action.attempts, workers)
    failed = sorted((outcome for outcome in ended if outcome.code), key=lambda outcome: _passing(outcome.code))
    started = {node: instance for outcome in ended for node, instance in outcome.instances.items()}
    addresses = {node: address for outcome in ended for node, address in outcome.addresses.items()}
    if not failed:
        return ActionOutcome(instances=started, addresses=addresses)
    first = failed[0]
    if action.gang.all_or_nothing and started and not _passing(first.code):
        undone = _aws(lambda: ec2.terminate(started.values()))
        # Where even that failed, they carry the token of an attempt that failed: the next pass ends them.
        return ActionOutcome(first.code, first.message, started if undone.code else {})
    return ActionOutcome(first.code, first.message, started, addresses)


def _passing(code: str) -> bool:
    return classify(code) in (ErrorKind.THROTTLE, ErrorKind.NETWORK)


def _run(action: Launch, attempt: Attempt, ec2: Ec2Port) -> ActionOutcome:
    try:
        return ec2.run(attempt, action.offering, action.tags, action.gang.all_or_nothing)
    except AwsError as error:
        return ActionOutcome(error.code, error.message)


def run_all(work: Callable[[T], R], items: Sequence[T], workers: int) -> list[R]:
    """`work` on every item, some at a time; in their order where that is one at a time."""
    if workers < 2 or len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(workers, len(items)), thread_name_prefix="ec2") as pool:
        return list(pool.map(work, items))


def _aws(act: Callable[[], object]) -> ActionOutcome:
    try:
        act()
    except AwsError as error:
        return ActionOutcome(error.code, error.message)
    return ActionOutcome()


def _slurm(act: Callable[[], object]) -> ActionOutcome:
    try:
        act()
    except SlurmError as error:
        return ActionOutcome(SLURM_FAILED, str(error))
    return ActionOutcome()
