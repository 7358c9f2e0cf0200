"""Order of a pool's offerings: spot zones without a recent refusal or interruption first.

EC2 interrupts spot instances where it needs the capacity back, and refuses launches there. It tells its depth only to
its own allocation strategies (decision 58), so a zone that has refused or interrupted is tried after equal ones for as long as the
journal knows of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from landbridge.burst.model import InsufficientCapacity, Offering
from landbridge.burst.model.errors import ErrorKind, classify
from landbridge.burst.reconcile.launching.spot_interruptions import SPOT_CODE


def in_launch_order(offerings: Sequence[Offering], refusals: Mapping[str, InsufficientCapacity]) -> Iterator[Offering]:
    """Yield the offerings in the pool's order, except adjacent spot offerings that differ only in their zone: of these
    the ones with fewest refusals in a row first, and of equal ones the first.

    `refusals`: by Offering.key, until an hour after their end; an interruption is one of them.
    """
    for _, group in groupby(offerings, _kind):
        equals = list(group)
        if equals[0].market == "spot":
            equals.sort(key=lambda offering: _times_refused(offering, refusals))
        yield from equals


def _kind(offering: Offering) -> tuple[object, ...]:
    """Return all that matters for the choice between two offerings, except the zone."""
    price = (offering.usd_hour, offering.max_price_usd)
    window = (offering.opens, offering.closes, offering.size)
    return offering.kind, offering.market, offering.instance_type, offering.region, price, window


def _times_refused(offering: Offering, refusals: Mapping[str, InsufficientCapacity]) -> int:
    refusal = refusals.get(offering.key)
    if refusal is None or (refusal.code != SPOT_CODE and classify(refusal.code) is not ErrorKind.CAPACITY):
        return 0
    return refusal.tries
