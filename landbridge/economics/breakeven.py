"""Break-even of owned and rented nodes: utilisation, months, and the saving over a grid of both."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor

from landbridge.economics.cloud_rates import CloudRate
from landbridge.plan.cost.bill_lines import HOURS_PER_MONTH
from landbridge.plan.cost.owned_node import (
    MONTHS_PER_YEAR,
    NodeInputs,
    breakeven_hours,
    onprem_node_hour,
    running_hour,
    upfront_usd,
)

#: Part of a month that floating-point numbers may be off at the end of the years of use.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class SurfaceCell:
    """Saving of owning a node instead of renting its GPUs for the used hours, in USD; negative: renting is cheaper."""

    rate: CloudRate
    utilisation: float
    months: float
    saving_usd: float


def breakeven_utilisation(node: NodeInputs, cloud_hour: float) -> float | None:
    """Return the utilisation at which an hour of an owned node costs as much as renting for the used hours.

    Solves onprem_node_hour(u) = cloud_hour * u, in which the power is linear in u. None: never, renting for all hours
    costs less.
    """
    idle, busy = onprem_node_hour(node, 0.0).usd, onprem_node_hour(node, 1.0).usd
    if idle <= 0:
        return 0.0
    saved = cloud_hour - (busy - idle)
    return idle / saved if saved >= idle else None


def breakeven_months(node: NodeInputs, cloud_hour: float, utilisation: float) -> float | None:
    """Return the months after which a purchase costs as much as renting for the used hours.

    Solves upfront + running * hours = cloud_hour * utilisation * hours. The residual value is not counted, because it is
    received at the end. None: never, or not within the years of use.
    """
    hours = breakeven_hours(upfront_usd(node), cloud_hour * utilisation, running_hour(node, utilisation))
    if hours is None or hours > node.years * MONTHS_PER_YEAR * HOURS_PER_MONTH * (1 + _TOLERANCE):
        return None
    return hours / HOURS_PER_MONTH


def paid_usd(node: NodeInputs, months: float, utilisation: float) -> float:
    """Return what is paid for an owned node until the end of `months`, in USD: purchases at the start of each period of
    use, running costs, less the residual value of each completed period.
    """
    life = node.years * MONTHS_PER_YEAR
    purchases, completed = ceil(months / life - _TOLERANCE), floor(months / life + _TOLERANCE)
    residual = node.price_usd * (node.residual_share or 0.0)
    running = running_hour(node, utilisation) * HOURS_PER_MONTH * months
    return upfront_usd(node) * purchases - residual * completed + running


def surface(
    node: NodeInputs, rates: Iterable[CloudRate], utilisations: Iterable[float], months: Iterable[float]
) -> tuple[SurfaceCell, ...]:
    """Return the saving of owning for each price, utilisation and number of months."""
    grid = [(used, count) for used in utilisations for count in months]
    return tuple(
        SurfaceCell(rate, used, count, rate.usd_hour * used * HOURS_PER_MONTH * count - paid_usd(node, count, used))
        for rate in rates
        for used, count in grid
    )
