"""Launch attempts of the journal: their results by EC2's view, instances without an attempt, and finished attempts."""

from collections.abc import Mapping
from dataclasses import replace

from landbridge.burst.model import Attempt, BudgetHold, BurstPolicy, CloudInstance, Offering, PoolPolicy, State
from landbridge.burst.reconcile.budget import hold_usd, settle_holds
from landbridge.burst.reconcile.node_states import is_up
from landbridge.burst.reconcile.observed import ALIVE, FORGOTTEN, REBUILT_GANG, Observed, token_of
from landbridge.burst.reconcile.residency import data_class_of


def account_for_instances(observed: Observed) -> State:
    """Return the journal updated by EC2's view: every running instance has an attempt and a hold; ended ones are
    spent."""
    if observed.ec2 is None:
        return observed.state
    alive: dict[str, list[CloudInstance]] = {}
    for instance in sorted(observed.ec2.instances, key=lambda instance: instance.id):
        if instance.state in ALIVE:
            alive.setdefault(token_of(instance), []).append(instance)
    attempts, holds = dict(observed.state.attempts), dict(observed.state.holds)
    for token, instances in alive.items():
        attempts[token] = attempt = _joined(attempts.get(token), token, instances, observed)
        if attempt.ended is not None:
            holds |= {instance.id: _hold(instance, attempt, holds, observed) for instance in instances}
            _hold_unseen(attempt, holds)
    state = replace(observed.state, attempts=attempts, holds=holds)
    return settle_holds(state, _ended_instances(state, alive, observed), observed.now)


def _hold(instance: CloudInstance, attempt: Attempt, holds: Mapping[str, BudgetHold], observed: Observed) -> BudgetHold:
    """Return the hold of a running instance: the present one, or its share of the launch call's hold, or one since its
    launch. It ends with the lease that EC2 shows, if that is later.
    """
    hold = holds.get(instance.id)
    if hold is None:
        launched = min(observed.now, max(instance.launched, observed.state.charged_until.get(instance.id, 0.0)))
        call = holds.get(attempt.token)
        hold = (
            replace(call, nodes=1)
            if call is not None
            # If the node is up, no record shows how long it booted.
            else BudgetHold(
                attempt.account,
                attempt.pool,
                attempt.usd_hour,
                launched,
                launched,
                registered=None if observed.is_powering_up(instance.node) else 0.0,
            )
        )
    if not hold.instance_type:
        hold = replace(hold, instance_type=instance.type)
    lease = instance.lease or 0.0
    return replace(hold, until=lease) if lease > hold.end else hold


def _hold_unseen(attempt: Attempt, holds: dict[str, BudgetHold]) -> None:
    """Reduce the hold of a forgotten launch call to the instances that EC2 has not shown."""
    call = holds.pop(attempt.token, None)
    unseen = len(attempt.nodes) - len(attempt.instances)
    if call is not None and attempt.code == FORGOTTEN and unseen > 0:
        holds[attempt.token] = replace(call, nodes=min(call.nodes, unseen))


def _joined(attempt: Attempt | None, token: str, instances: list[CloudInstance], observed: Observed) -> Attempt:
    """Return the attempt with the instances that EC2 shows for it."""
    by_node = {instance.node: instance.id for instance in instances if instance.node}
    nameless = {f"?{instance.id}": instance.id for instance in instances if not instance.node}
    if attempt is None:
        return _rebuilt(token, instances, by_node | nameless, observed)
    if attempt.ended is None:
        # The response was lost. If EC2 shows all instances, the result is known; otherwise the call is repeated.
        if set(attempt.nodes) <= by_node.keys():
            return replace(attempt, ended=observed.now, code="", instances=by_node)
        return attempt
    ids = set(attempt.instances.values())
    late = [instance for instance in instances if instance.id not in ids]
    late_by_node = {
        (instance.node if instance.node not in attempt.instances else "") or f"?{instance.id}": instance.id
        for instance in late
    }
    return replace(attempt, instances={**attempt.instances, **late_by_node}) if late else attempt


def _rebuilt(token: str, instances: list[CloudInstance], by_node: dict[str, str], observed: Observed) -> Attempt:
    """Return an attempt rebuilt from its instances: the journal is new, or another program launched them."""
    first = instances[0]
    pool = observed.policy.pools.get(first.pool) or next(
        (observed.pools[instance.node] for instance in instances if instance.node in observed.pools), None
    )
    offering = offering_of(first, pool)
    price = offering.usd_hour if offering else _highest_price(first, observed.policy)
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
        instances=by_node,
    )


def offering_of(instance: CloudInstance, pool: PoolPolicy | None) -> Offering | None:
    """Return the first offering of the pool that could have launched this instance."""
    return next(
        (
            offering
            for offering in (pool.offerings if pool else ())
            if (offering.instance_type, offering.subnet, offering.market)
            == (instance.type, instance.subnet, instance.market)
        ),
        None,
    )


def _highest_price(instance: CloudInstance, policy: BurstPolicy) -> float | None:
    offerings = (offering for pool in policy.pools.values() for offering in pool.offerings)
    return max(
        (offering.usd_hour or 0.0 for offering in offerings if offering.instance_type == instance.type), default=None
    )


def _ended_instances(
    state: State, alive: dict[str, list[CloudInstance]], observed: Observed
) -> dict[str, dict[str, bool]]:
    """Return the launched instances that do not exist any more: token -> node -> whether EC2 shows the instance ending.

    One that EC2 may not show yet counts as existing. So does one that EC2 hides while slurmctld has its node up with it, or
    until the controller has terminated it or its lease is over.
    """
    latest: dict[str, Attempt] = {}
    for attempt in sorted(state.attempts.values(), key=lambda attempt: attempt.created_at):
        latest |= dict.fromkeys(attempt.instances, attempt)
    with_instance = {instance.node for instances in alive.values() for instance in instances}
    up = {name for name, node in observed.slurm.nodes.items() if name not in with_instance and is_up(node)}
    cloud = observed.ec2
    shown = {instance.id: instance.state for instance in cloud.instances} if cloud else {}
    shown |= dict.fromkeys(cloud.ended if cloud else (), "terminated")
    ended: dict[str, dict[str, bool]] = {}
    for token, attempt in state.attempts.items():
        if attempt.ended is None or not attempt.instances:
            continue
        is_young = observed.now - attempt.ended <= observed.policy.settle_seconds
        for node, instance in attempt.instances.items():
            is_alive = shown.get(instance) in ALIVE or shown.get(instance) in ("stopping", "stopped")
            hold = state.holds.get(instance)
            is_paid = hold is not None and hold.end > observed.now
            may_run = instance not in state.terminated_at and (is_paid or (node in up and latest[node] is attempt))
            if not is_alive and (instance in shown or not (is_young or may_run)):
                ended.setdefault(token, {})[node] = instance in shown
    return ended


def is_forgettable(attempt: Attempt, observed: Observed) -> bool:
    """Return whether the attempt's call is not repeated any more, and EC2 would show its instances by now."""
    return attempt.ended is None and observed.now - attempt.created_at > observed.policy.settle_seconds


def without_finished_attempts(state: State, observed: Observed, current: set[str]) -> State:
    """Return the state without finished attempts (no instance, no job in Slurm, no current gang) and without their
    holds."""
    if observed.ec2 is None:
        return state
    tokens = {token_of(instance) for instance in observed.ec2.instances if instance.state in ALIVE}
    settle_seconds = observed.policy.settle_seconds

    def has_no_instance(attempt: Attempt) -> bool:
        if attempt.ended is None or attempt.instances or attempt.token in tokens:
            return False
        return observed.now - attempt.ended > settle_seconds

    launched = {id for attempt in state.attempts.values() for id in attempt.instances.values()}
    unknown = {
        attempt.token
        for attempt in state.attempts.values()
        if attempt.ended is None or observed.now - attempt.ended <= settle_seconds
    }
    holds = {key: hold for key, hold in state.holds.items() if key in launched or key in unknown}
    attempts = {
        token: attempt
        for token, attempt in state.attempts.items()
        if not has_no_instance(attempt)
        or attempt.gang in current
        or any(job in observed.slurm.jobs for job in attempt.jobs)
    }
    return replace(state, attempts=attempts, holds=holds)
