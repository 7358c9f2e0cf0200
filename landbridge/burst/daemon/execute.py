"""Execution of one action. A failed call becomes an outcome for the journal and the next pass; other errors are raised."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from landbridge.burst.model import (
    Action,
    ActionOutcome,
    Attempt,
    CommentJobs,
    Down,
    KeepNodes,
    Launch,
    PowerDown,
    PowerUp,
    Promote,
    ReadStatuses,
    RecordTopology,
    Renew,
    RequeueJobs,
    ResumeNodes,
    SetAddresses,
    Terminate,
)
from landbridge.burst.model.errors import AwsError, classify
from landbridge.burst.model.ports import Ec2Port, SlurmPort
from landbridge.burst.slurm.slurm import SlurmError

T = TypeVar("T")
R = TypeVar("R")
#: Code of a Slurm command that failed or timed out.
SLURM_FAILED = "SLURM"
#: Parallel calls; equal to the number of connections that the client keeps.
MAX_PARALLEL_CALLS = 4


def perform(action: Action, ec2: Ec2Port, slurm: SlurmPort, workers: int = MAX_PARALLEL_CALLS) -> ActionOutcome:
    """Carry out `action`. The attempts and holds of a Launch have to be in the journal already."""
    match action:
        case Launch():
            return _launch(action, ec2, workers)
        case Terminate():
            return ec2.terminate(action.instances)
        case Renew():
            return _aws(lambda: ec2.renew(action.instances, action.until))
        case Down():
            return _down(action, slurm)
        case RequeueJobs():
            return _requeue(action, slurm)
        case ResumeNodes():
            return _slurm(lambda: slurm.resume(action.nodes))
        case SetAddresses():
            return _slurm(lambda: slurm.set_addresses(action.addresses))
        case CommentJobs():
            return _comment(action, slurm)
        case Promote():
            return _slurm(lambda: slurm.promote(action.job, action.partitions))
        case PowerUp():
            return _slurm(lambda: slurm.start(action.nodes))
        case PowerDown():
            return _slurm(lambda: slurm.retire(action.nodes, reason(action)))
        case RecordTopology():
            return _record_topology(action, ec2, slurm)
        case KeepNodes():
            return _slurm(lambda: slurm.keep(action.nodes, action.owned))
        case ReadStatuses():
            return _read_statuses(action, ec2)


def reason(action: Down | PowerDown | RequeueJobs) -> str:
    """Return a node's or a job's reason in Slurm: one short line that starts with `landbridge:`."""
    return f"landbridge: {action.code} {' '.join(action.text.split())}"[:200].replace('"', "'").rstrip()


def _launch(action: Launch, ec2: Ec2Port, workers: int) -> ActionOutcome:
    """Make all calls of a launch. If one is refused and the gang is all-or-nothing, terminate the instances of the
    others.

    If a call was only throttled or its result is unknown, nothing is terminated: the same calls with the same tokens
    are repeated and complete the gang. A token whose instances were terminated cannot be used again.
    """
    outcomes = run_all(lambda attempt: _run(action, attempt, ec2), action.attempts, workers)
    failed = sorted((outcome for outcome in outcomes if outcome.code), key=lambda outcome: _is_transient(outcome.code))
    started = {node: instance for outcome in outcomes for node, instance in outcome.instances.items()}
    addresses = {node: address for outcome in outcomes for node, address in outcome.addresses.items()}
    if not failed:
        return ActionOutcome(instances=started, addresses=addresses)
    first = failed[0]
    if action.gang.all_or_nothing and started and not _is_transient(first.code):
        termination = ec2.terminate(started.values())
        # Those that remain have the token of a failed attempt: the next pass requests their termination again.
        remaining = {
            node: instance for node, instance in started.items() if termination.code or instance in termination.refused
        }
        terminated = {node: instance for node, instance in started.items() if node not in remaining}
        return ActionOutcome(first.code, first.message, remaining, terminated=terminated)
    return ActionOutcome(first.code, first.message, started, addresses)


def _down(action: Down, slurm: SlurmPort) -> ActionOutcome:
    """Report the end of jobs, then set the nodes down, also if the report failed: an instance that waits costs money."""
    report = ActionOutcome()
    if action.ended_jobs:
        report = _slurm(lambda: slurm.report_end(action.ended_jobs, reason(action)))
    outcome = _slurm(lambda: slurm.down(action.nodes, reason(action)))
    return outcome if outcome.code else report


def _requeue(action: RequeueJobs, slurm: SlurmPort) -> ActionOutcome:
    """Report the end of jobs that Slurm does not requeue, then requeue or cancel all, also if the report failed."""
    ended_jobs = [job for job in action.jobs if not job.is_requeued]
    report = _slurm(lambda: slurm.report_end(ended_jobs, reason(action))) if ended_jobs else ActionOutcome()
    outcome = _slurm(lambda: slurm.requeue(action.jobs))
    return outcome if outcome.code else report


def _comment(action: CommentJobs, slurm: SlurmPort) -> ActionOutcome:
    try:
        errors = slurm.comment(action.comments)
    except SlurmError as error:
        return ActionOutcome(SLURM_FAILED, str(error))
    jobs = frozenset(comment.job for comment in action.comments if comment.job not in errors)
    return ActionOutcome(SLURM_FAILED if errors else "", next(iter(errors.values()), ""), jobs=jobs)


def _record_topology(action: RecordTopology, ec2: Ec2Port, slurm: SlurmPort) -> ActionOutcome:
    """Read the network paths and write them to Slurm. After a lasting refusal, such as a missing permission, remove the
    paths of earlier instances; the call is not repeated for these instances."""
    try:
        paths = ec2.network_paths(action.instances.values())
    except AwsError as error:
        outcome = ActionOutcome(error.code, error.message)
        if _is_transient(error.code):
            return outcome
        cleared = _slurm(lambda: slurm.set_network_paths(dict.fromkeys(action.instances, "")))
        return outcome if cleared.code else replace(outcome, instances=action.instances)
    by_node = {node: paths[instance] for node, instance in action.instances.items() if instance in paths}
    outcome = _slurm(lambda: slurm.set_network_paths(by_node))
    read_instances = {node: action.instances[node] for node in by_node}
    return outcome if outcome.code else ActionOutcome(instances=read_instances, network_paths=by_node)


def _read_statuses(action: ReadStatuses, ec2: Ec2Port) -> ActionOutcome:
    try:
        return ActionOutcome(statuses=ec2.instance_statuses(action.instances))
    except AwsError as error:
        return ActionOutcome(error.code, error.message)


def _is_transient(code: str) -> bool:
    return classify(code).is_transient


def _run(action: Launch, attempt: Attempt, ec2: Ec2Port) -> ActionOutcome:
    try:
        return ec2.run(attempt, action.offering, action.tags, action.gang.all_or_nothing)
    except AwsError as error:
        return ActionOutcome(error.code, error.message)


def run_all(work: Callable[[T], R], items: Sequence[T], workers: int) -> list[R]:
    """Return the results of `work` for all items, computed by `workers` threads; one worker runs them in order."""
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
