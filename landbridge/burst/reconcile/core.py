"""Reconcile pass: pure function from observed Slurm, EC2, journal state and policy to a decision. No clock, no calls."""

from dataclasses import replace

from landbridge.burst.model import (
    Backoff,
    BurstPolicy,
    CommentJobs,
    Ec2View,
    JobComment,
    ObservationKind,
    ReconcileDecision,
    SlurmJob,
    SlurmOrder,
    SlurmView,
    State,
)
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.apart import bring_together
from landbridge.burst.reconcile.attempts import account_for_instances, without_finished_attempts
from landbridge.burst.reconcile.budget import Ledger, roll_over_month
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.clock_skew import BACKOFF_SECONDS, limit_to_now
from landbridge.burst.reconcile.gangs import nodes_without_job, pending_starts, start_key
from landbridge.burst.reconcile.instances import garbage_collection, leases, registration
from landbridge.burst.reconcile.instances.instance_status import read_statuses, replace_failing_nodes
from landbridge.burst.reconcile.instances.keeps import keep_nodes
from landbridge.burst.reconcile.instances.refused_terminations import hold_refused_instances
from landbridge.burst.reconcile.launching.ended_launches import ended_launches, record_ends, report_ends
from landbridge.burst.reconcile.launching.provisioning import Provisioning
from landbridge.burst.reconcile.launching.spot_interruptions import record_interruptions
from landbridge.burst.reconcile.min_nodes import start_min_nodes
from landbridge.burst.reconcile.node_states import is_up
from landbridge.burst.reconcile.observed import ALIVE, Observed, launched_at, observe
from landbridge.burst.reconcile.promote import promote
from landbridge.burst.reconcile.topology import record_topology
from landbridge.timestamps import iso

#: A node that powers up for a job that has ended is set down after this time.
JOBLESS_NODE_SECONDS = 10.0
#: Comments of one pass, and their different texts: Slurm serves a request for each job, and a text needs a command.
MAX_COMMENTED_JOBS = 1000
MAX_COMMENT_COMMANDS = 50
#: Seconds until the next comments.
COMMENT_INTERVAL_SECONDS = 2.0
#: A suspend order for a node that Slurm still shows as up after this time is from before a restart of slurmctld.
SUSPEND_ORDER_EXPIRY_SECONDS = 60.0


def reconcile(
    slurm: SlurmView, ec2: Ec2View | None, state: State, policy: BurstPolicy, now: float
) -> ReconcileDecision:
    """Return the decision of one pass. `ec2` is None if EC2 does not answer: nothing is launched or terminated."""
    state = limit_to_now(state, policy, now)
    ended = ended_launches(slurm, ec2, state)
    observed = observe(slurm, ec2, record_ends(state, ended, policy, now), policy, now)
    known_state = record_interruptions(observed, roll_over_month(account_for_instances(observed), now))
    observed = replace(
        observed,
        state=known_state,
        open={
            node: attempt
            for node, attempt in observed.open.items()
            if known_state.attempts[attempt.token].ended is None
        },
    )
    changes = Changes(observed, known_state, Ledger.of(known_state, policy, now))
    hold_refused_instances(observed, changes)
    _enforce(observed, changes)
    registration.update_boot_breakers(observed, changes)
    report_ends(observed, changes, ended)
    garbage_collection.collect_garbage(observed, changes)
    read_statuses(observed, changes)
    replace_failing_nodes(observed, changes)
    keep_nodes(observed, changes)
    _set_down_jobless_nodes(observed, changes)
    bring_together(observed, changes)
    leases.renew_leases(observed, changes)  # running instances have priority over launches in the budget
    gang_starts = pending_starts(observed)
    provisioning = Provisioning(observed, changes)
    for start in gang_starts:
        if changes.requeued.isdisjoint(job.id for job in start.jobs):
            provisioning.serve(start)
    provisioning.calls.repeat_batches()
    provisioning.calls.forget()
    _set_addresses(observed, changes)
    record_topology(observed, changes)
    _comment_jobs(observed, changes)
    promote(observed, changes)
    start_min_nodes(observed, changes, provisioning.used)
    actions = changes.actions()
    current_gangs = {gang.key for start in gang_starts for gang in start.gangs}
    after = replace(
        changes.state,
        orders=_orders(observed),
        attempts=changes.attempts,
        holds=changes.holds,
        spent=changes.spent,
        charges=tuple(changes.charges),
        backoffs=_backoffs(changes, now),
        terminated_at=changes.terminated_at,
        termination_refusals=changes.termination_refusals,
        node_addresses=changes.node_addresses,
        topology_read=changes.topology_read,
        instance_statuses=changes.instance_statuses,
        status_reads=changes.status_reads,
        keeps=changes.keeps,
        keeps_in_slurm=changes.keeps_in_slurm,
        first_seen=changes.first_seen,
        min_nodes_requested_at=changes.min_nodes_requested_at,
        registration_failures=changes.registration_failures,
        last_observation_at=changes.last_observation_at,
        throttled_until={key: until for key, until in known_state.throttled_until.items() if now < until},
        insufficient_capacity={
            key: shortage
            for key, shortage in known_state.insufficient_capacity.items()
            if now < shortage.until + 2 * policy.insufficient_capacity_seconds[1]
        },
    )
    after = without_finished_attempts(after, observed, current_gangs)
    return ReconcileDecision(actions, tuple(changes.records), after, changes.next_pass)


def _enforce(observed: Observed, changes: Changes) -> None:
    """End the starts of jobs whose data may not be in AWS or in the node's region: set down the nodes that are theirs
    alone. If none is, requeue the jobs, whose nodes stay for the accounts that launched them and for other jobs."""
    refused: dict[str, tuple[str, str]] = {}
    accounts: dict[str, set[str]] = {}  # by start, of the jobs that are refused themselves
    verdicts: dict[tuple[str, str, str], tuple[str, str] | None] = {}
    for node, jobs in observed.jobs.items():
        region = observed.region_of(node)
        for job in jobs:
            label = (job.account, job.wckey, region)
            if label not in verdicts:
                verdicts[label] = _refusal(observed, job, region)
            if (refusal := verdicts[label]) is not None:
                refused[start_key(job)] = refusal
                accounts.setdefault(start_key(job), set()).add(job.account)
    if not refused:
        return
    jobs_by_start: dict[str, dict[int, SlurmJob]] = {}
    for jobs in observed.jobs.values():
        for job in jobs:
            if start_key(job) in refused:
                jobs_by_start.setdefault(start_key(job), {})[job.id] = job
    for key, members in sorted(jobs_by_start.items()):
        nodes = dict.fromkeys(node for job in members.values() for node in job.nodes if node in observed.pools)
        nodes_of_it_alone = [
            node
            for node in nodes
            if all(start_key(job) in refused for job in observed.jobs.get(node, ()))
            and (observed.has(node) or not is_up(observed.slurm.nodes[node]))  # else its account is not known
            and observed.launching_accounts(node) <= accounts[key]
        ]
        changes.down(nodes_of_it_alone, *refused[key], members.values())
        for job in members.values() if changes.downed.isdisjoint(nodes) else ():
            changes.requeue(job, *refused[key])


def _refusal(observed: Observed, job: SlurmJob, region: str) -> tuple[str, str] | None:
    """Return the code and the reason why a job may not run in AWS or in that region; None if it may."""
    if (reason := residency.reject_job_if_restricted(observed.policy, job)) is not None:
        return "RESIDENCY", reason
    reason = residency.reject_job_if_restricted(observed.policy, job, region)
    return None if reason is None else ("REGION", reason)


def _set_down_jobless_nodes(observed: Observed, changes: Changes) -> None:
    bound = JOBLESS_NODE_SECONDS
    for node in nodes_without_job(observed):
        if changes.seconds_seen(ObservationKind.NODE_WITHOUT_JOB, node, bound) >= bound:
            changes.down([node], "GONE", f"job {observed.resumed_for[node]}, for which it was started, is gone")


def _set_addresses(observed: Observed, changes: Changes) -> None:
    """Set the address of starting nodes in Slurm: once, and again if Slurm shows another one."""
    for name, instances in observed.living.items():
        instance = garbage_collection.instance_to_keep(observed, name, instances)
        if (
            not observed.is_powering_up(name)
            or name in changes.downed
            or instance.id in changes.terminated
            or not instance.address
        ):
            continue
        address = observed.slurm.nodes[name].address
        is_set = observed.state.node_addresses.get(name) == instance.address
        if is_set:
            changes.node_addresses[name] = instance.address
        if not is_set or (address and address != instance.address):
            changes.addresses[name] = instance.address


def _comment_jobs(observed: Observed, changes: Changes) -> None:
    """Comment pending jobs with the reasons of their back-offs, up to the limits of a pass."""
    comments: list[JobComment] = []
    texts: set[str] = set()
    for number, backoff in sorted(changes.backoffs.items()):
        job = observed.slurm.jobs.get(number)
        if backoff.reported or job is None or job.state != "PENDING":
            continue
        text = comment_of(backoff)
        is_full = text not in texts and len(texts) == MAX_COMMENT_COMMANDS
        if is_full or len(comments) == MAX_COMMENTED_JOBS:
            changes.schedule_pass(observed.now + COMMENT_INTERVAL_SECONDS)
            continue
        texts.add(text)
        until = backoff.until if backoff.until > observed.now else None
        comments.append(JobComment(number, job.slurm_id, text, until))
    if comments:
        changes.job_comments = CommentJobs(tuple(comments))


def comment_of(backoff: Backoff) -> str:
    """Return the comment that the user reads on a pending job."""
    return f"landbridge: {backoff.code} {backoff.text}; not tried again before {iso(backoff.until)}"


def _backoffs(changes: Changes, now: float) -> dict[int, Backoff]:
    """Return the backoffs without expired ones, whose jobs have run or do not exist any more."""
    return {job: backoff for job, backoff in changes.backoffs.items() if now < backoff.until + BACKOFF_SECONDS[1]}


def _orders(observed: Observed) -> tuple[SlurmOrder, ...]:
    """Return the orders with information that Slurm's node states do not have yet."""
    alive: dict[str, float] = {}
    for instance in observed.ec2.instances if observed.ec2 else ():
        if instance.state in ALIVE and instance.node:
            since = launched_at(instance, observed.state)
            alive[instance.node] = min(since, alive.get(instance.node, since))
    return tuple(order for order in observed.state.orders if _is_needed(order, observed, alive))


def _is_needed(order: SlurmOrder, observed: Observed, alive: dict[str, float]) -> bool:
    if order.kind == "resume":
        return any(observed.is_powering_up(node) for node in order.nodes) or (
            bool(order.nodes) and observed.slurm.at < order.at
        )
    if order.kind == "wake":
        return False
    if observed.ec2 is None:
        return True
    for node in order.nodes:
        if alive.get(node, order.at + 1) <= order.at:
            slurm_node = observed.slurm.nodes.get(node)
            is_up = slurm_node is not None and not slurm_node.states & {"POWERING_UP", "POWERING_DOWN", "POWERED_DOWN"}
            if not (is_up and observed.slurm.at > order.at + SUSPEND_ORDER_EXPIRY_SECONDS):
                return True
    return False
