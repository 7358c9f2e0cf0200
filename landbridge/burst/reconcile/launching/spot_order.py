"""Order of a pool's offerings: spot zones without a recent refusal or interruption first, and offerings whose launches
failed after EC2 had accepted them last.

EC2 interrupts spot instances where it needs the capacity back, and refuses launches there. It tells its depth only to
its own allocation strategies (decision 31), so a zone that has refused or interrupted is tried after equal ones for as long as the
journal knows of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from landbridge.burst.model import InsufficientCapacity, Offering
from landbridge.burst.model.errors import ErrorKind, classify, is_end_code
from landbridge.burst.reconcile.launching.spot_interruptions import SPOT_CODE


def in_launch_order(
    offerings: Sequence[Offering], refusals: Mapping[str, InsufficientCapacity], now: float
) -> Iterator[Offering]:
    """Yield the offerings in the pool's order, except adjacent spot offerings that differ only in their zone: of these
    the ones with fewest refusals in a row first, and of equal ones the first. Failed launches come last until their time.

    `refusals`: by Offering.key, until an hour after their end; an interruption is one of them.
    """

    def has_failed(offering: Offering) -> bool:
        refusal = refusals.get(offering.key)
        return refusal is not None and now < refusal.until and is_failed_launch(refusal)

    for _, group in groupby(sorted(offerings, key=has_failed), _kind):
        equals = list(group)
        if equals[0].market == "spot":
            equals.sort(key=lambda offering: _times_refused(offering, refusals))
        yield from equals


def is_failed_launch(refusal: InsufficientCapacity) -> bool:
    """Return whether EC2 accepted a launch of the offering and ended its instances, for another reason than capacity or a
    quota. That may concern one host or all offerings, so the offering may still be tried."""
    return is_end_code(refusal.code) and classify(refusal.code) is ErrorKind.CONFIGURATION


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
