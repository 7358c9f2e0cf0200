"""Launch attempts of the journal: their results as EC2 shows them, unknown instances, and finished attempts."""

from dataclasses import replace

from landbridge.burst.model import Attempt, BurstPolicy, CloudInstance, Offering, PoolPolicy, State
from landbridge.burst.reconcile.budget import hold_of, hold_usd, settle_holds
from landbridge.burst.reconcile.observed import ALIVE, REBUILT_GANG, Observed, token_of
from landbridge.burst.reconcile.residency import data_class_of


def account_for_instances(observed: Observed) -> State:
    """The journal with EC2's truth in it: every living instance belongs to an attempt with a hold, and what is gone is paid."""
    if observed.ec2 is None:
        return observed.state
    alive: dict[str, list[CloudInstance]] = {}
    for instance in sorted(observed.ec2.instances, key=lambda instance: instance.id):
        if instance.state in ALIVE:
            alive.setdefault(token_of(instance), []).append(instance)
    attempts, holds = dict(observed.state.attempts), dict(observed.state.holds)
    for token, instances in alive.items():
        attempt = _joined(attempts.get(token), token, instances, observed)
        if attempt is not None:
            attempts[token] = attempt
            if token not in holds and attempt.ended is not None:
                holds[token] = replace(hold_of(attempt, min(observed.now, attempt.created_at)), usd=attempt.hold_usd)
    state = replace(observed.state, attempts=attempts, holds=holds)
    return settle_holds(state, _gone(state, alive, observed), observed.now)


def _joined(attempt: Attempt | None, token: str, instances: list[CloudInstance], observed: Observed) -> Attempt | None:
    """The attempt with the instances that EC2 shows for it; None: as it was."""
    named = {instance.node: instance.id for instance in instances if instance.node}
    nameless = {f"?{instance.id}": instance.id for instance in instances if not instance.node}
    if attempt is None:
        return _adopted(token, instances, named | nameless, observed)
    if attempt.ended is None:
        # The answer got lost; what it would have said is seen. Where only a part is, the call is repeated to know.
        if set(attempt.nodes) <= named.keys():
            return replace(attempt, ended=observed.now, code="", instances=named)
        return None
    ids = set(attempt.instances.values())
    late = [instance for instance in instances if instance.id not in ids]
    if not late:
        return None
    more = {
        (instance.node if instance.node not in attempt.instances else "") or f"?{instance.id}": instance.id
        for instance in late
    }
    hold = (
        attempt.usd_hour
        * sum(max(0.0, (instance.lease or observed.now) - instance.launched) for instance in late)
        / 3600
    )
    nothing = not attempt.instances
    return replace(
        attempt,
        instances={**attempt.instances, **more},
        hold_usd=hold if nothing else attempt.hold_usd,
        created_at=attempt.created_at,
    )


def _adopted(token: str, instances: list[CloudInstance], named: dict[str, str], observed: Observed) -> Attempt:
    """Return an attempt rebuilt from its instances: the journal is new, or another program launched them."""
    first = instances[0]
    pool = observed.policy.pools.get(first.pool) or next(
        (observed.pools[instance.node] for instance in instances if instance.node in observed.pools), None
    )
    offering = offering_of(first, pool)
    price = offering.usd_hour if offering else _dearest(first, observed.policy)
    lease = max((instance.lease or observed.now) for instance in instances)
    created_at = min([observed.now, *(instance.launched for instance in instances)])
    return Attempt(
        token=token,
        gang=REBUILT_GANG,
        pool=pool.name if pool else first.pool,
        offering=offering.key if offering else "",
        nodes=tuple(instance.node for instance in instances if instance.node),
        jobs=first.jobs,
        account=first.account,
        all_or_nothing=False,
        lease=lease,
        created_at=created_at,
        hold_usd=hold_usd(len(instances), price or 0.0, created_at, lease),
        usd_hour=price or 0.0,
        data_class=data_class_of(observed.policy, first.account),
        ended=observed.now,
        instances=named,
    )


def offering_of(instance: CloudInstance, pool: PoolPolicy | None) -> Offering | None:
    """The first of the pool's offerings that could have given this instance."""
    return next(
        (
            offering
            for offering in (pool.offerings if pool else ())
            if (offering.instance_type, offering.subnet, offering.market)
            == (instance.type, instance.subnet, instance.market)
        ),
        None,
    )


def _dearest(instance: CloudInstance, policy: BurstPolicy) -> float | None:
    offerings = (offering for pool in policy.pools.values() for offering in pool.offerings)
    return max(
        (offering.usd_hour or 0.0 for offering in offerings if offering.instance_type == instance.type), default=None
    )


def _gone(state: State, alive: dict[str, list[CloudInstance]], observed: Observed) -> dict[str, dict[str, bool]]:
    """Instances that were launched and are there no more: token -> nodes, and whether EC2 shows them ending. One that EC2 may not show yet is still there."""
    shown = {instance.id: instance.state for instance in observed.ec2.instances} if observed.ec2 else {}
    gone: dict[str, dict[str, bool]] = {}
    for token, attempt in state.attempts.items():
        if attempt.ended is None or not attempt.instances:
            continue
        young = observed.now - attempt.ended <= observed.policy.settle_seconds
        for node, instance in attempt.instances.items():
            is_alive = shown.get(instance) in ALIVE or shown.get(instance) in ("stopping", "stopped")
            if not is_alive and (instance in shown or not young):
                gone.setdefault(token, {})[node] = instance in shown
    return gone


def is_forgettable(attempt: Attempt, observed: Observed) -> bool:
    """Its call will not be repeated, and if it launched anything, that would be seen by now."""
    return attempt.ended is None and observed.now - attempt.created_at > observed.policy.settle_seconds


def without_finished_attempts(state: State, observed: Observed, current: set[str]) -> State:
    """Without attempts that nothing depends on: no instance, no job that is still there, no gang; and holds of none."""
    if observed.ec2 is None:
        return state
    tokens = {token_of(instance) for instance in observed.ec2.instances if instance.state in ALIVE}
    settled = observed.policy.settle_seconds

    def over(attempt: Attempt) -> bool:
        if attempt.ended is None or attempt.instances or attempt.token in tokens:
            return False
        return observed.now - attempt.ended > settled

    held = {
        token: hold
        for token, hold in state.holds.items()
        if (attempt := state.attempts.get(token)) is not None and not over(attempt)
    }
    attempts = {
        token: attempt
        for token, attempt in state.attempts.items()
        if not over(attempt) or attempt.gang in current or any(job in observed.slurm.jobs for job in attempt.jobs)
    }
    return replace(state, attempts=attempts, holds=held)
