"""Spot interruptions as a sign of little capacity: the offering goes behind other zones of its kind."""

from dataclasses import replace

from landbridge.burst.model import InsufficientCapacity, State
from landbridge.burst.reconcile.attempts import offering_of
from landbridge.burst.reconcile.observed import Observed

#: Prefix of the reason that a node's agent writes for a spot interruption notice or a rebalance recommendation of EC2.
SPOT_REASON = "landbridge: SPOT"
#: Code of the record; a refusal by EC2 has EC2's own.
SPOT_CODE = "SPOT"
#: An instance may run for hours after the recommendation to leave it: its record is renewed when it is older than this.
RENEWAL_SECONDS = 600.0


def record_interruptions(observed: Observed, state: State) -> State:
    """Return the state in which the offerings of nodes that EC2 interrupts have a record. They may be tried at once: it
    only changes the order."""
    refusals = dict(state.insufficient_capacity)
    for name, instances in observed.living.items():
        node = observed.slurm.nodes.get(name)
        if node is None or not node.reason.startswith(SPOT_REASON):
            continue
        for instance in instances:
            offering = offering_of(instance, observed.pools[name]) if instance.market == "spot" else None
            if offering is None:
                continue
            before = refusals.get(offering.key)
            if before is None:
                refusals[offering.key] = InsufficientCapacity(observed.now, 1, SPOT_CODE)
            elif before.until + RENEWAL_SECONDS < observed.now:
                refusals[offering.key] = replace(before, until=observed.now)
    return replace(state, insufficient_capacity=refusals) if refusals != state.insufficient_capacity else state
