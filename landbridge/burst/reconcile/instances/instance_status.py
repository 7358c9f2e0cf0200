"""Nodes whose instance EC2 reports as failing: a failed status check, or a scheduled event.

EC2 announces a reboot, a stop, a retirement or maintenance days before it; then no new job begins on the node. It is
powered down when it has no job (Slurm's POWER_DOWN_ASAP, which drains it until then), and Slurm launches another instance
when a job needs one. A job that has not ended shortly before the event is requeued, if Slurm requeues it. A status check
that has failed for `impaired_seconds` has the same effect, without a time at which jobs leave. A node that an operator has
drained stays theirs.
"""

from collections.abc import Sequence
from dataclasses import replace

from landbridge.burst.model import (
    ActionOutcome,
    BurstPolicy,
    CloudInstance,
    InstanceStatus,
    ObservationKind,
    ReadStatuses,
    SlurmJob,
    SlurmNode,
    State,
    StatusRead,
)
from landbridge.burst.model.errors import classify
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.clock_skew import STATUS_INTERVAL_SECONDS
from landbridge.burst.reconcile.instances.garbage_collection import instance_to_keep
from landbridge.burst.reconcile.instances.scheduled_event import scheduled_event
from landbridge.burst.reconcile.node_states import (
    is_asked_to_power_down,
    is_down,
    is_powered_down,
    is_set_by_operator,
    is_up,
)
from landbridge.burst.reconcile.observed import Observed

#: Codes of a node's reason, of job comments and of decisions.
EVENT_CODE, IMPAIRED_CODE = "EVENT", "IMPAIRED"
#: An older status check proves nothing about the present.
STALE_SECONDS = 3 * STATUS_INTERVAL_SECONDS
#: Seconds after which a pass follows one whose decision needs the statuses that it reads.
READ_SECONDS = 2.0


def read_statuses(observed: Observed, changes: Changes) -> None:
    """Read the statuses of the running instances of each region when they are due; forget the statuses of other
    instances.
    """
    before = observed.state
    if observed.ec2 is None:
        changes.instance_statuses, changes.status_reads = dict(before.instance_statuses), dict(before.status_reads)
        return
    by_region: dict[str, list[str]] = {}
    for instances in observed.living.values():
        for instance in instances:
            if instance.state == "running":
                by_region.setdefault(instance.region, []).append(instance.id)
    running = {instance.id for instance in observed.ec2.instances}
    running |= {instance.id for instances in observed.living.values() for instance in instances}
    changes.instance_statuses = {id_: status for id_, status in before.instance_statuses.items() if id_ in running}
    changes.status_reads = {region: read for region, read in before.status_reads.items() if region in by_region}
    for region, ids in sorted(by_region.items()):
        last = changes.status_reads.get(region)
        if last is None or last.until <= observed.now:
            changes.statuses_due.append(ReadStatuses(region, tuple(sorted(ids)), last.code if last else ""))


def record_statuses(
    state: State, action: ReadStatuses, outcome: ActionOutcome, policy: BurstPolicy, now: float
) -> State:
    """Return the journal state with the statuses. A failed read changes none; after a lasting refusal, such as a missing
    permission, the next one is as late as the next launch of a pool with an open breaker."""
    last = state.status_reads.get(action.region)
    if outcome.code:
        is_lasting = not classify(outcome.code).is_transient
        wait = max(policy.breaker_seconds if is_lasting else 0.0, STATUS_INTERVAL_SECONDS)
        read = StatusRead(now + wait, last.read_at if last else None, outcome.code, outcome.message)
        return replace(state, status_reads={**state.status_reads, action.region: read})
    others = {id_: status for id_, status in state.instance_statuses.items() if id_ not in action.instances}
    return replace(
        state,
        instance_statuses={**others, **outcome.statuses},
        status_reads={**state.status_reads, action.region: StatusRead(now + STATUS_INTERVAL_SECONDS, now)},
    )


def replace_failing_nodes(observed: Observed, changes: Changes) -> None:
    """Power down nodes whose instance is impaired or has a scheduled event; requeue jobs that the event would end."""
    leaving: dict[tuple[str, str], list[str]] = {}
    for name, instances in observed.living.items():
        node, instance = observed.slurm.nodes[name], instance_to_keep(observed, name, instances)
        status = changes.instance_statuses.get(instance.id)
        is_free = not (is_down(node) or is_powered_down(node) or is_set_by_operator(node))
        if (
            status is None
            or not is_free
            or not _may_run_on(node, instance)
            or name in changes.downed
            or instance.id in changes.terminated
        ):
            continue
        reason = _reason(observed, changes, node, instance, status)
        if reason is None:
            continue
        jobs = observed.jobs.get(name, ())
        if _jobs_leave(observed, changes, instance, status if reason[0] == EVENT_CODE else None, jobs):
            changes.down([name], *reason, jobs)
        elif not is_asked_to_power_down(node):
            leaving.setdefault(reason, []).append(name)
    for (code, text), names in leaving.items():
        ids = sorted({job.id for name in names for job in observed.jobs.get(name, ())})
        changes.power_down(names, code, text, ids)


def _may_run_on(node: SlurmNode, instance: CloudInstance) -> bool:
    """Return whether the node's slurmd may run on the instance: Slurm has no other address for the node.

    EC2 may have refused to terminate an earlier instance, and does not show the later one for a while.
    """
    return node.address in ("", node.name, instance.address) or not instance.address


def _reason(
    observed: Observed, changes: Changes, node: SlurmNode, instance: CloudInstance, status: InstanceStatus
) -> tuple[str, str] | None:
    """Return code and text of the reason to replace the node; None if it is used as before."""
    if event := scheduled_event(instance, status, observed.state, observed.policy):
        return EVENT_CODE, f"EC2 has scheduled {event}"
    read = changes.status_reads.get(instance.region)
    is_recent = read is not None and read.read_at is not None and observed.now - read.read_at <= STALE_SECONDS
    if not status.impaired or not is_recent or not is_up(node):
        return None
    bound = observed.policy.impaired_seconds
    if changes.seconds_seen(ObservationKind.INSTANCE_IMPAIRED, instance.id, bound) < bound:
        return None
    return IMPAIRED_CODE, f"EC2's status check of the {' and the '.join(status.impaired)} fails"


def _jobs_leave(
    observed: Observed,
    changes: Changes,
    instance: CloudInstance,
    event: InstanceStatus | None,
    jobs: Sequence[SlurmJob],
) -> bool:
    """Return whether the node is set down, which requeues its jobs.

    A started job leaves when the margin before the event begins, unless it ends before the event by its time limit; if a
    read of the statuses is due, only after it. A job that has not started leaves at once if it would not end before the
    margin, or if the node is impaired.
    """
    is_impaired_only, name = event is None, instance.node
    if name in observed.held and not jobs:
        return False  # a job is leaving it
    if not jobs:
        return is_impaired_only
    if not all(job.is_requeued for job in jobs):
        return False
    if event is None:
        return name not in observed.started
    if event.event_at is None:
        return False
    cut = event.event_at - observed.policy.event_margin_seconds
    if name in observed.started:
        changes.schedule_pass(cut)
        if observed.now < cut or all(_last_end(job) <= event.event_at for job in jobs):
            return False
        # This pass reads the statuses last: EC2 may have postponed the event.
        is_read_due = any(read.region == instance.region for read in changes.statuses_due)
        changes.schedule_pass(observed.now + READ_SECONDS if is_read_due else None)
        return not is_read_due
    return any(_last_end(job, observed.now) > cut for job in jobs)


def _last_end(job: SlurmJob, start: float | None = None) -> float:
    """Return the end of the job by its time limit, for a job that starts at `start`."""
    since = job.started if start is None else start
    return float("inf") if job.minutes is None or since is None else since + 60 * job.minutes
