"""Instances that EC2 refuses to terminate, such as termination-protected ones: when their termination is requested again,
and what they cost meanwhile.

A starting node gets another instance meanwhile. An operator removes the protection or shuts the instance down from inside,
which terminates a protected one too (EC2 User Guide, "Change instance termination protection").
"""

from dataclasses import replace

from landbridge.burst.model import ActionOutcome, State, Terminate, TerminationRefusal
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.clock_skew import TERMINATION_RETRY_SECONDS
from landbridge.burst.reconcile.observed import Observed


def record_termination(state: State, action: Terminate, outcome: ActionOutcome, now: float) -> State:
    """Return the journal state with the refused instances and, if the call did not fail, the requested ones."""
    refusals = {id_: refusal for id_, refusal in state.termination_refusals.items() if id_ not in action.instances}
    for instance, (code, message) in outcome.refused.items():
        before = state.termination_refusals.get(instance)
        since = before.since if before else now
        refusals[instance] = TerminationRefusal(code, message, since, now + TERMINATION_RETRY_SECONDS)
    if outcome.code:
        return replace(state, termination_refusals={**state.termination_refusals, **refusals})
    requested = {instance: now for instance in action.instances if instance not in outcome.refused}
    terminated_at = {id_: at for id_, at in state.terminated_at.items() if id_ not in outcome.refused}
    return replace(state, terminated_at={**terminated_at, **requested}, termination_refusals=refusals)


def hold_refused_instances(observed: Observed, changes: Changes) -> None:
    """Hold the cost of refused instances until the next request: they may run longer than their lease, and the cost is
    caused whether or not a budget permits it. Forget the refusals of instances that have ended.

    A request that is due holds nothing in advance: it may end the instance, or the instance is its node's again and its
    lease is renewed as far as the budgets permit."""
    if observed.ec2 is None:
        return
    shown = {instance.id: instance for instance in observed.ec2.instances if instance.state != "shutting-down"}
    changes.termination_refusals = {
        id_: refusal for id_, refusal in observed.state.termination_refusals.items() if id_ in shown
    }
    for id_, refusal in changes.termination_refusals.items():
        hold = changes.holds.get(id_)
        is_long = hold is not None and hold.end >= observed.now + TERMINATION_RETRY_SECONDS / 2  # not in every pass
        if hold is None or is_long or refusal.until <= observed.now:
            continue
        longer = replace(hold, until=observed.now + TERMINATION_RETRY_SECONDS, requested_until=None)
        for account, usd in longer.charges(max(hold.end, observed.now), longer.end).items():
            changes.ledger.add(account, hold.pool, usd)
        changes.holds[id_] = longer
