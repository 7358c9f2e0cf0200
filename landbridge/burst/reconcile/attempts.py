"""Launches that the journal knows: how they ended as far as EC2 shows, which it does not know, and which it may forget."""

from dataclasses import replace

from landbridge.burst.model import Attempt, Instance, Place, Policy, Pool, State
from landbridge.burst.reconcile.budget import hold_of, hold_usd, settle
from landbridge.burst.reconcile.observed import ADOPTED, ALIVE, Survey, token_of
from landbridge.burst.reconcile.residency import data_class


def account_for(found: Survey) -> State:
    """The journal with EC2's truth in it: every living instance belongs to an attempt with a hold, and what is gone is paid."""
    if found.ec2 is None:
        return found.state
    alive: dict[str, list[Instance]] = {}
    for instance in sorted(found.ec2.instances, key=lambda one: one.id):
        if instance.state in ALIVE:
            alive.setdefault(token_of(instance), []).append(instance)
    attempts, holds = dict(found.state.attempts), dict(found.state.holds)
    for token, instances in alive.items():
        attempt = _joined(attempts.get(token), token, instances, found)
        if attempt is not None:
            attempts[token] = attempt
            if token not in holds and attempt.ended is not None:
                holds[token] = replace(hold_of(attempt, min(found.now, attempt.made)), usd=attempt.hold_usd)
    state = replace(found.state, attempts=attempts, holds=holds)
    return settle(state, _gone(state, alive, found), found.now)


def _joined(attempt: Attempt | None, token: str, instances: list[Instance], found: Survey) -> Attempt | None:
    """The attempt with the instances that EC2 shows for it; None: as it was."""
    named = {instance.node: instance.id for instance in instances if instance.node}
    nameless = {f"?{instance.id}": instance.id for instance in instances if not instance.node}
    if attempt is None:
        return _adopted(token, instances, named | nameless, found)
    if attempt.ended is None:
        # The answer got lost; what it would have said is seen. Where only a part is, the call is repeated to know.
        if set(attempt.nodes) <= named.keys():
            return replace(attempt, ended=found.now, code="", instances=named)
        return None
    known = set(attempt.instances.values())
    late = [instance for instance in instances if instance.id not in known]
    if not late:
        return None
    more = {(one.node if one.node not in attempt.instances else "") or f"?{one.id}": one.id for one in late}
    hold = attempt.usd_hour * sum(max(0.0, (one.lease or found.now) - one.launched) for one in late) / 3600
    nothing = not attempt.instances
    return replace(
        attempt,
        instances={**attempt.instances, **more},
        hold_usd=hold if nothing else attempt.hold_usd,
        made=attempt.made,
    )


def _adopted(token: str, instances: list[Instance], named: dict[str, str], found: Survey) -> Attempt:
    """An attempt as its instances tell it: the journal is new, or somebody else launched them."""
    first = instances[0]
    pool = found.policy.pools.get(first.pool) or next(
        (found.pools[one.node] for one in instances if one.node in found.pools), None
    )
    place = place_of(first, pool)
    price = place.usd_hour if place else _dearest(first, found.policy)
    lease = max((one.lease or found.now) for one in instances)
    made = min([found.now, *(one.launched for one in instances)])
    return Attempt(
        token=token,
        gang=ADOPTED,
        pool=pool.name if pool else first.pool,
        place=place.key if place else "",
        nodes=tuple(one.node for one in instances if one.node),
        jobs=first.jobs,
        account=first.account,
        whole=False,
        lease=lease,
        made=made,
        hold_usd=hold_usd(len(instances), price or 0.0, made, lease),
        usd_hour=price or 0.0,
        data_class=data_class(found.policy, first.account),
        ended=found.now,
        instances=named,
    )


def place_of(instance: Instance, pool: Pool | None) -> Place | None:
    """The first of the pool's places that could have given this instance."""
    return next(
        (
            place
            for place in (pool.places if pool else ())
            if (place.instance_type, place.subnet, place.market) == (instance.type, instance.subnet, instance.market)
        ),
        None,
    )


def _dearest(instance: Instance, policy: Policy) -> float | None:
    places = (place for pool in policy.pools.values() for place in pool.places)
    return max((place.usd_hour or 0.0 for place in places if place.instance_type == instance.type), default=None)


def _gone(state: State, alive: dict[str, list[Instance]], found: Survey) -> dict[str, dict[str, bool]]:
    """Instances that were launched and are there no more: token -> nodes, and whether EC2 shows them ending. One that EC2 may not show yet is still there."""
    shown = {instance.id: instance.state for instance in found.ec2.instances} if found.ec2 else {}
    gone: dict[str, dict[str, bool]] = {}
    for token, attempt in state.attempts.items():
        if attempt.ended is None or not attempt.instances:
            continue
        young = found.now - attempt.ended <= found.policy.settle_seconds
        for node, instance in attempt.instances.items():
            is_alive = shown.get(instance) in ALIVE or shown.get(instance) in ("stopping", "stopped")
            if not is_alive and (instance in shown or not young):
                gone.setdefault(token, {})[node] = instance in shown
    return gone


def forgettable(attempt: Attempt, found: Survey) -> bool:
    """Its call will not be repeated, and if it launched anything, that would be seen by now."""
    return attempt.ended is None and found.now - attempt.made > found.policy.settle_seconds


def pruned(state: State, found: Survey, current: set[str]) -> State:
    """Without attempts that nothing depends on: no instance, no job that is still there, no gang; and holds of none."""
    if found.ec2 is None:
        return state
    tokens = {token_of(instance) for instance in found.ec2.instances if instance.state in ALIVE}
    settled = found.policy.settle_seconds

    def over(attempt: Attempt) -> bool:
        if attempt.ended is None or attempt.instances or attempt.token in tokens:
            return False
        return found.now - attempt.ended > settled

    held = {
        token: hold
        for token, hold in state.holds.items()
        if (attempt := state.attempts.get(token)) is not None and not over(attempt)
    }
    kept = {
        token: attempt
        for token, attempt in state.attempts.items()
        if not over(attempt) or attempt.gang in current or any(job in found.slurm.jobs for job in attempt.jobs)
    }
    return replace(state, attempts=kept, holds=held)
