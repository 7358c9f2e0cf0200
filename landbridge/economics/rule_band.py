"""Prices of renting at which a published break-even utilisation, such as 60 to 70 percent, is right."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from landbridge.economics.breakeven import breakeven_utilisation
from landbridge.economics.cloud_rates import CloudRate
from landbridge.plan.cost.owned_node import NodeInputs, onprem_node_hour

#: Position of a break-even in relation to the published range.
Verdict = Literal["below", "holds", "above", "never"]


@dataclass(frozen=True, slots=True)
class RatedPrice:
    """Dated price of renting, its break-even utilisation (None: never), and whether the published range is right."""

    rate: CloudRate
    utilisation: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class RuleBand:
    """Prices in USD an hour for the GPUs of one node, between which the break-even is in the published range."""

    low_utilisation: float
    high_utilisation: float
    low_usd_hour: float
    high_usd_hour: float
    prices: tuple[RatedPrice, ...]


def rule_band(node: NodeInputs, low: float, high: float, rates: Iterable[CloudRate]) -> RuleBand:
    """Return the band of prices for a break-even between `low` and `high`, and each price's position.

    The price at which utilisation u breaks even is onprem_node_hour(u) / u.
    """
    band = [onprem_node_hour(node, used).usd / used for used in (high, low)]
    return RuleBand(low, high, band[0], band[1], tuple(_rated(node, rate, low, high) for rate in rates))


def _rated(node: NodeInputs, rate: CloudRate, low: float, high: float) -> RatedPrice:
    utilisation = breakeven_utilisation(node, rate.usd_hour)
    if utilisation is None:
        return RatedPrice(rate, None, "never")
    verdict: Verdict = "below" if utilisation < low else "above" if utilisation > high else "holds"
    return RatedPrice(rate, utilisation, verdict)
