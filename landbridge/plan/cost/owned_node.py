"""Cost of an owned node by term: the one formula for the bill, for jobs and for comparisons with AWS."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import expm1, log1p
from typing import Literal, get_args

HOURS_PER_YEAR = 8760
MONTHS_PER_YEAR = 12
#: Parts of the cost of an owned node. A residual value is negative.
Term = Literal["purchase", "residual", "financing", "network", "maintenance", "power", "space", "storage", "staff"]
TERMS: tuple[Term, ...] = get_args(Term)


@dataclass(frozen=True, slots=True)
class Debt:
    """Debt for a purchase: `rate` is the interest of a year, or `payment_usd_month` is stated. `years`: until it is
    repaid.
    """

    rate: float | None
    years: float
    payment_usd_month: float | None = None


@dataclass(frozen=True, slots=True)
class NodeInputs:
    """Inputs of the cost of one owned node. None: the term is not counted.

    `price_usd` is the purchase price, `years` the years of use. `residual_share`, `network_share` and `maintenance_share`
    (a year) are shares of the price. `idle_kw` and `load_kw` are the power without and with jobs, before `pue`.
    """

    price_usd: float
    years: float
    purchase: bool = True
    residual_share: float | None = None
    debt: Debt | None = None
    network_share: float | None = None
    maintenance_share: float | None = None
    idle_kw: float = 0.0
    load_kw: float = 0.0
    pue: float = 1.0
    usd_kwh: float | None = None
    space_usd_month: float | None = None
    storage_usd_month: float | None = None
    staff_per_node: float = 0.0
    staff_usd_year: float | None = None


@dataclass(frozen=True, slots=True)
class NodeHour:
    """Cost of one hour of an owned node by term, in USD. Terms that are not counted are missing."""

    terms: Mapping[Term, float]

    @property
    def usd(self) -> float:
        """Sum of the terms."""
        return sum(self.terms.values())

    @property
    def usd_month(self) -> float:
        """Cost of a month of 730 hours."""
        return self.usd * HOURS_PER_YEAR / MONTHS_PER_YEAR


def onprem_node_hour(node: NodeInputs, utilisation: float = 1.0) -> NodeHour:
    """Return the cost of one hour of an owned node by term, in USD.

    The hour counts whether the node is used or idle: `utilisation`, the share of hours with jobs, changes only the power
    between `idle_kw` and `load_kw`. The purchase and the interest are spread over the years of use. The terms are
    independent: one that is not counted lowers the sum by exactly its amount. Source: the formula of Lenovo LP2368, with
    its omissions (financing, residual value, network, storage, staff) as further terms.
    """
    hours, terms = node.years * HOURS_PER_YEAR, dict[Term, float]()
    if node.purchase:
        terms["purchase"] = node.price_usd / hours
    if node.residual_share:
        terms["residual"] = -node.price_usd * node.residual_share / hours
    if node.debt is not None:
        terms["financing"] = interest(node.price_usd, node.debt) / hours
    if node.network_share is not None:
        terms["network"] = node.price_usd * node.network_share / hours
    if node.maintenance_share is not None:
        terms["maintenance"] = node.price_usd * node.maintenance_share / HOURS_PER_YEAR
    if node.usd_kwh is not None:
        kilowatts = node.idle_kw + (node.load_kw - node.idle_kw) * utilisation
        terms["power"] = kilowatts * node.pue * node.usd_kwh
    if node.space_usd_month is not None:
        terms["space"] = node.space_usd_month * MONTHS_PER_YEAR / HOURS_PER_YEAR
    if node.storage_usd_month is not None:
        terms["storage"] = node.storage_usd_month * MONTHS_PER_YEAR / HOURS_PER_YEAR
    if node.staff_usd_year is not None:
        terms["staff"] = node.staff_per_node * node.staff_usd_year / HOURS_PER_YEAR
    return NodeHour(terms)


def interest(principal: float, debt: Debt) -> float:
    """Return the interest of a debt until it is repaid, in USD: all payments less the principal.

    The payment is stated, or that of an annuity: principal * i / (1 - (1 + i)^-n), i = rate / 12, n = months. Source:
    the standard formula of an ordinary annuity.
    """
    return monthly_payment(principal, debt) * debt.years * MONTHS_PER_YEAR - principal


def monthly_payment(principal: float, debt: Debt) -> float:
    """Return the payment of a month, in USD, due at its end."""
    months = debt.years * MONTHS_PER_YEAR
    if debt.payment_usd_month is not None:
        return debt.payment_usd_month
    monthly_rate = (debt.rate or 0.0) / MONTHS_PER_YEAR
    if monthly_rate == 0:
        return principal / months
    # expm1 and log1p are exact for a rate near 0, at which the difference would be 0.
    return principal * monthly_rate / -expm1(-months * log1p(monthly_rate))


def upfront_usd(node: NodeInputs) -> float:
    """Return what is paid for a node before it runs, in USD: the node and its share of the fabric."""
    return node.price_usd * (node.purchase + (node.network_share or 0.0))


def running_hour(node: NodeInputs, utilisation: float = 1.0) -> float:
    """Return the cost of an hour without what is paid before it runs, and without the residual value, in USD."""
    hour = onprem_node_hour(node, utilisation)
    return sum(usd for term, usd in hour.terms.items() if term not in ("purchase", "network", "residual"))


def breakeven_hours(upfront: float, cloud_hour: float, running: float) -> float | None:
    """Return the hours after which a purchase costs as much as renting: upfront / (cloud_hour - running).

    `cloud_hour`: cost of renting in an hour of the calendar; `running`: cost of an hour of the owned node besides the
    purchase. None: never. Source: Lenovo LP2368.
    """
    saved = cloud_hour - running
    return upfront / saved if saved > 0 else None
