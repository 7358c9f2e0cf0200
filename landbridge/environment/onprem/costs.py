"""Environment key `onprem.costs`: inputs of the cost of owned nodes. Defaults are in landbridge/catalog/onprem_costs.yaml."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from landbridge.catalog.hardware.onprem_costs import default_cost
from landbridge.environment.base import Model, Text, Usd

Kilowatts = Annotated[float, Field(ge=0, le=1000)]
Share = Annotated[float, Field(ge=0)]


def _input(name: str, description: str, key: str | None = None) -> Any:
    """Return a field whose default is the base value of the catalogue's input `key`."""
    return Field(default_factory=lambda: default_cost(key or name), description=description)


class OwnedNode(Model):
    """Nodes of one platform or node group that differ from the catalogue or from other nodes of the site."""

    purchase_usd: Usd | None = Field(
        default=None, description="price of one node in USD; none: the platform's price in the catalogue"
    )
    idle_kw: Kilowatts | None = Field(
        default=None, description="power of a node without jobs in kW; none: as much as with jobs"
    )
    load_kw: Kilowatts | None = Field(
        default=None, description="power of a node with jobs in kW; none: the platform's power in the catalogue"
    )
    years: float | None = Field(default=None, description="years of use; none: those of the site")
    residual_share: Share | None = Field(default=None, description="resale value; none: that of the site")


class Financing(Model):
    """Debt for the purchase of the nodes, repaid in equal payments at the end of each month."""

    rate: Share | None = _input(
        "rate", "interest of a year as a share of the debt; null: the payment is stated", "financing_rate"
    )
    years: float | None = Field(default=None, description="years until the debt is repaid; none: the years of use")
    payment_usd_month: Usd | None = Field(
        default=None, description="stated payment of a month for one node; none: computed from the rate (annuity)"
    )


class Power(Model):
    """Electricity of the nodes."""

    pue: float = _input("pue", "PUE of the room: power of the whole room per power of its machines")
    usd_kwh: Usd = _input("usd_kwh", "price of electricity in USD per kWh")


class Staff(Model):
    """People who operate the nodes."""

    per_node: Share = _input("per_node", "full-time equivalents for one node", "staff_per_node")
    usd_year: Usd = _input("usd_year", "cost of a full-time equivalent in USD a year", "staff_usd_year")


class Goodput(Model):
    """Losses between used and finished GPU-hours, and the expenses of set-up and debugging."""

    failures_per_1000_node_days: Share | None = _input(
        "failures_per_1000_node_days", "failures of a node that end a job; null: not counted"
    )
    restart_minutes: Share = _input("restart_minutes", "minutes until a job computes again after a failure")
    checkpoint_minutes: Share | None = _input(
        "checkpoint_minutes", "minutes in which a job waits for a checkpoint; null: checkpoints are not counted"
    )
    checkpoint_every_minutes: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="minutes between checkpoints; none: the interval with the smallest loss"
    )
    job_nodes: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="nodes of a job that a failure ends; none: one"
    )
    setup_usd: Usd | None = _input("setup_usd", "expense for the set-up of the site in USD, once; null: not counted")
    debugging_usd_month: Usd | None = _input(
        "debugging_usd_month", "expense for debugging in USD a month; null: not counted"
    )


class Costs(Model):
    """Inputs of the cost of owned nodes. A term that is null is not counted."""

    nodes: Mapping[Text, OwnedNode] = Field(
        default={}, description="nodes by platform, or by the hosts of a node group as in its `hosts`"
    )
    purchase: bool = Field(default=True, description="false: the purchase is not counted, because it is paid already")
    years: float = _input("years", "years of use, after which the nodes are replaced")
    residual_share: Share | None = _input(
        "residual_share", "resale value after these years as a share of the purchase price"
    )
    financing: Financing | None = Field(
        default=None, description="debt for the purchase; none: paid in full at the purchase"
    )
    network_share: Share | None = _input(
        "network_share", "share of the fabric as a share of the node's price; null: not counted"
    )
    maintenance_share: Share | None = _input(
        "maintenance_share", "maintenance of a year as a share of the purchase price; null: not counted"
    )
    power: Power | None = Field(default_factory=Power, description="null: electricity is not counted")
    space_usd_month: Usd | None = _input(
        "space_usd_month", "colocation or space of one node in USD a month; null: not counted"
    )
    storage_usd_month: Usd | None = _input("storage_usd_month", "storage of one node in USD a month; null: not counted")
    staff: Staff | None = Field(default_factory=Staff, description="null: people are not counted")
    goodput: Goodput = Field(default_factory=Goodput)
