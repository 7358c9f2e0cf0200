"""One decision: from what Slurm, EC2 and the journal say to what is to be done. No clock, no chance, no calls."""

from dataclasses import replace

from landbridge.burst.model import (
    Backoff,
    Decision,
    Ec2View,
    Job,
    Order,
    Policy,
    SlurmView,
    State,
    Tell,
)
from landbridge.burst.model.timestamps import iso
from landbridge.burst.reconcile import garbage_collection as orphans
from landbridge.burst.reconcile import leases, residency
from landbridge.burst.reconcile import registration as boots
from landbridge.burst.reconcile.attempts import account_for, pruned
from landbridge.burst.reconcile.budget import Ledger, roll_over
from landbridge.burst.reconcile.changes import Draft
from landbridge.burst.reconcile.clock_skew import BACKOFF, sane
from landbridge.burst.reconcile.gangs import deserted, start_key, starts
from landbridge.burst.reconcile.min_nodes import keep_warm
from landbridge.burst.reconcile.observed import ALIVE, Survey, born, survey
from landbridge.burst.reconcile.promote import promote
from landbridge.burst.reconcile.provisioning import Launching

#: A node whose job has gone is given up after being seen so for that long.
DESERTED = 10.0
#: An order to suspend a node that Slurm still shows as up after that long was of another life of slurmctld.
VOID = 60.0


def reconcile(slurm: SlurmView, ec2: Ec2View | None, state: State, policy: Policy, now: float) -> Decision:
    """What to do now. `ec2` None: it cannot be seen, and only what needs no sight of it is decided."""
    found = survey(slurm, ec2, sane(state, policy, now), policy, now)
    known = roll_over(account_for(found), now)
    found = replace(
        found, state=known, open={n: a for n, a in found.open.items() if known.attempts[a.token].ended is None}
    )
    draft = Draft(found, known, Ledger.of(known, policy, now))
    _enforce(found, draft)
    boots.judge(found, draft)
    orphans.reap(found, draft)
    _give_up_deserted(found, draft)
    leases.renew(found, draft)  # what runs is paid for before what is to start
    wanted = starts(found)
    launching = Launching(found, draft)
    for start in wanted:
        launching.serve(start)
    launching.repeat_batches()
    launching.forget()
    _addresses(found, draft)
    _tell(found, draft)
    promote(found, draft)
    keep_warm(found, draft, launching.used)
    actions = draft.actions()
    current = {gang.key for start in wanted for gang in start.gangs}
    after = replace(
        draft.state,
        orders=_orders(found),
        attempts=draft.attempts,
        holds=draft.holds,
        backoffs=_backoffs(draft, now),
        suspects=draft.suspects,
        droughts={key: d for key, d in known.droughts.items() if now < d.until + 2 * policy.drought_seconds[1]},
    )
    after = pruned(after, found, current)
    return Decision(actions, tuple(draft.records), after, draft.next_pass)


def _enforce(found: Survey, draft: Draft) -> None:
    """No job whose data must stay is on any of our nodes, or in a region that its data may not be in, however it got there."""
    refused: dict[str, tuple[str, str]] = {}
    verdicts: dict[tuple[str, str, str], tuple[str, str] | None] = {}
    for node, jobs in found.jobs.items():
        region = found.region_of(node)
        for job in jobs:
            label = (job.account, job.wckey, region)
            if label not in verdicts:
                verdicts[label] = _barred(found, job, region)
            if (why := verdicts[label]) is not None:
                refused[start_key(job)] = why
    if not refused:
        return
    together: dict[str, dict[int, Job]] = {}
    for jobs in found.jobs.values():
        for job in jobs:
            if start_key(job) in refused:
                together.setdefault(start_key(job), {})[job.id] = job
    for key, members in sorted(together.items()):
        nodes = [node for job in members.values() for node in job.nodes if node in found.pools]
        draft.down(nodes, *refused[key], members.values())


def _barred(found: Survey, job: Job, region: str) -> tuple[str, str] | None:
    """The code and the words of why a job may not be where it is: nowhere in AWS, or not in that region."""
    if (why := residency.refused(found.policy, job)) is not None:
        return "RESIDENCY", why
    why = residency.refused(found.policy, job, region)
    return None if why is None else ("REGION", why)


def _give_up_deserted(found: Survey, draft: Draft) -> None:
    for node in deserted(found):
        if draft.seen_for(f"deserted:{node}", DESERTED) >= DESERTED:
            draft.down([node], "GONE", f"job {found.resumed_for[node]}, for which it was started, is gone")


def _addresses(found: Survey, draft: Draft) -> None:
    """Slurm has to know where a node will be before it comes up; it is told once, and where it is seen to believe otherwise."""
    for name, instances in found.living.items():
        kept = orphans.keep(found, name, instances)
        if not found.rising(name) or name in draft.downed or kept.id in draft.ended or not kept.address:
            continue
        address = found.slurm.nodes[name].address
        if (address and address != kept.address) or not draft.keep(f"address:{name}={kept.address}"):
            draft.addresses[name] = kept.address


def _tell(found: Survey, draft: Draft) -> None:
    for number, backoff in sorted(draft.backoffs.items()):
        job = found.slurm.jobs.get(number)
        if backoff.told or job is None or job.state != "PENDING":
            continue
        draft.tells.append(Tell(number, words(backoff), backoff.until if backoff.until > found.now else None))


def words(backoff: Backoff) -> str:
    """What the job's owner reads."""
    return f"landbridge: {backoff.code} {backoff.text}; not tried again before {iso(backoff.until)}"


def _backoffs(draft: Draft, now: float) -> dict[int, Backoff]:
    """Without those that are long over: their jobs have run, or are gone."""
    return {job: backoff for job, backoff in draft.backoffs.items() if now < backoff.until + BACKOFF[1]}


def _orders(found: Survey) -> tuple[Order, ...]:
    """Orders that still say something that Slurm's states do not."""
    alive: dict[str, float] = {}
    for instance in found.ec2.instances if found.ec2 else ():
        if instance.state in ALIVE and instance.node:
            since = born(instance, found.state)
            alive[instance.node] = min(since, alive.get(instance.node, since))
    return tuple(order for order in found.state.orders if _needed(order, found, alive))


def _needed(order: Order, found: Survey, alive: dict[str, float]) -> bool:
    if order.kind == "resume":
        return any(found.rising(node) for node in order.nodes) or (bool(order.nodes) and found.slurm.at < order.at)
    if order.kind == "wake":
        return False
    if found.ec2 is None:
        return True
    for node in order.nodes:
        if alive.get(node, order.at + 1) <= order.at:
            known = found.slurm.nodes.get(node)
            up = known is not None and not known.states & {"POWERING_UP", "POWERING_DOWN", "POWERED_DOWN"}
            if not (up and found.slurm.at > order.at + VOID):
                return True
    return False
