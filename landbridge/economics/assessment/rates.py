"""Rates of owned and rented nodes: the only module of the assessment that reads prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from landbridge.catalog import instances, onprem_costs, platforms, price_of
from landbridge.catalog.assessment import assessment_facts
from landbridge.catalog.aws.prices import Price, PriceKind, PriceSource
from landbridge.catalog.hardware.onprem_costs import default_cost
from landbridge.economics.assessment.answers import Answers
from landbridge.plan.cost.owned_node import HOURS_PER_YEAR, NodeInputs, onprem_node_hour, running_hour, upfront_usd

_GB_PER_TB = 1000
_OWN_QUOTE = "quotation of the answers"
PURCHASES: Mapping[PriceKind, str] = {
    "on_demand": "on demand",
    "capacity_block": "Capacity Block",
    "spot": "spot",
}
#: Price rows of traffic to the internet, with the TB up to which each holds. Source: EC2 on-demand pricing, Data Transfer.
_TRAFFIC = (
    ("internet_out_first_10_tb", 10.0),
    ("internet_out_next_40_tb", 50.0),
    ("internet_out_next_100_tb", 150.0),
    ("internet_out_above_150_tb", float("inf")),
)


@dataclass(frozen=True, slots=True)
class PriceBasis:
    """Source of a price: title, day and confidence."""

    title: str
    as_of: date | None
    confidence: str


@dataclass(frozen=True, slots=True)
class InputRange:
    """Lowest and highest value of one input of an owned node-hour."""

    title: str
    low: float
    high: float
    basis: PriceBasis


@dataclass(frozen=True, slots=True)
class OwnedNodeRate:
    """Cost of one owned node without staff, in USD an hour; `purchase_usd` is the price of the node and its fabric.

    `running_usd_hour` is the part that remains when the purchase is past: maintenance, colocation and power.
    """

    platform: str
    gpus: int
    usd_hour: float
    running_usd_hour: float
    purchase_usd: float
    power_kw: float
    pue: float
    years: float
    bases: tuple[PriceBasis, ...]


@dataclass(frozen=True, slots=True)
class StaffRate:
    """Staff of owned nodes: full-time equivalents for each node of 8 GPUs, the least for any node, and USD a year of one."""

    per_node: float
    least: float
    usd_year: float

    def people(self, nodes: int) -> float:
        """Return the full-time equivalents for a number of owned nodes; 0 without nodes."""
        return max(self.least, self.per_node * nodes) if nodes else 0.0

    def usd_hour(self, nodes: int) -> float:
        """Return their cost in USD an hour."""
        return self.people(nodes) * self.usd_year / HOURS_PER_YEAR


@dataclass(frozen=True, slots=True)
class RentedNodeRate:
    """Price range of instances with the GPUs of one owned node, in USD an hour; `region`: region of the price."""

    purchase: PriceKind
    instance: str
    low: float
    high: float
    region: str
    basis: PriceBasis


@dataclass(frozen=True, slots=True)
class AssessmentRates:
    """Rates of one comparison. None: no dated price is known. `replaced_region`: the region without a price."""

    owned: OwnedNodeRate | None
    staff: StaffRate
    rented: Mapping[PriceKind, RentedNodeRate]
    platform: str
    instance: str
    instance_gpus: int
    node_gpus: int
    replaced_region: str | None

    @property
    def cloud(self) -> RentedNodeRate | None:
        """Return the rate of AWS with which owning is compared: on demand."""
        return self.rented.get("on_demand")


def rates_of(
    answers: Answers, region: str, inputs: Mapping[str, float] | None = None, cloud_factor: float = 1.0
) -> AssessmentRates:
    """Return the rates for the GPU model of the answers. `inputs` replaces inputs of the owned rate by their name in
    onprem_costs.yaml (`node_usd`: the price of a node without fabric), `cloud_factor` multiplies the cloud's rates.
    """
    facts = assessment_facts()
    model = facts.gpus[answers.utilisation.gpu]
    replaced = inputs or {}
    staff = StaffRate(
        _input("staff_per_node", replaced), facts.threshold("staff-least"), _input("staff_usd_year", replaced)
    )
    kind, platform = instances()[model.instance], platforms()[model.platform]
    instance_gpus = kind.accelerators.count if kind.accelerators is not None else 1
    ratio = platform.gpus.count / instance_gpus
    rented: dict[PriceKind, RentedNodeRate] = {}
    replaced_region: str | None = None
    for purchase in PURCHASES:
        place, price = region, _price(purchase, model.instance, region)
        quoted = answers.prices.cloud_usd_hour if purchase == "on_demand" else None
        if quoted is not None:
            price = (quoted, quoted, PriceBasis(_OWN_QUOTE, None, "quotation"))
        elif price is None and purchase == "on_demand":
            for other in facts.reference_regions:
                price = _price(purchase, model.instance, other)
                if price is not None:
                    place, replaced_region = other, region
                    break
        if price is not None:
            low, high, basis = price
            factor = ratio * cloud_factor
            rented[purchase] = RentedNodeRate(purchase, model.instance, low * factor, high * factor, place, basis)
    owned = _owned(answers, replaced)
    return AssessmentRates(
        owned, staff, rented, model.platform, model.instance, instance_gpus, platform.gpus.count, replaced_region
    )


def traffic_usd(tb: float, region: str) -> tuple[float, PriceBasis] | None:
    """Return the price of traffic from AWS to the internet, in USD for a volume in TB, by its tiers; None if unknown."""
    rows = [price_of("network", name, region) for name, _ in _TRAFFIC]
    first = rows[0]
    total, below = 0.0, 0.0
    for row, (_, upper) in zip(rows, _TRAFFIC, strict=True):
        if not isinstance(row, Price):
            return None
        total += max(0.0, min(tb, upper) - below) * _GB_PER_TB * row.usd
        below = upper
    return (total, PriceBasis(first.source, first.as_of, first.confidence)) if first is not None else None


def traffic_in_basis(region: str) -> PriceBasis | None:
    """Return the source of the price 0 for traffic from the internet to AWS; None if it is not known or not 0."""
    price = price_of("network", "internet_in", region)
    free = isinstance(price, Price) and price.usd == 0
    return PriceBasis(price.source, price.as_of, price.confidence) if price is not None and free else None


def _owned(answers: Answers, inputs: Mapping[str, float]) -> OwnedNodeRate | None:
    name = assessment_facts().gpus[answers.utilisation.gpu].platform
    facts = platforms()[name]
    quoted = answers.prices.node_usd
    price = inputs.get("node_usd", quoted if quoted is not None else facts.price_usd)
    if price is None or facts.power_kw is None:
        return None
    node = NodeInputs(
        price_usd=price,
        years=_input("years", inputs),
        network_share=_input("network_share", inputs),
        maintenance_share=_input("maintenance_share", inputs),
        idle_kw=facts.power_kw,
        load_kw=facts.power_kw,
        pue=_input("pue", inputs),
        usd_kwh=_input("usd_kwh", inputs),
        space_usd_month=_input("space_usd_month", inputs),
    )
    node_basis = PriceBasis(facts.source, facts.date, "secondary") if quoted is None else None
    bases = (
        node_basis or PriceBasis(_OWN_QUOTE, None, "quotation"),
        PriceBasis("inputs of an owned node-hour, onprem_costs.yaml", onprem_costs().date, "secondary"),
    )
    return OwnedNodeRate(
        name,
        facts.gpus.count,
        onprem_node_hour(node).usd,
        running_hour(node),
        upfront_usd(node),
        facts.power_kw,
        node.pue,
        node.years,
        bases,
    )


def _input(name: str, replaced: Mapping[str, float]) -> float:
    """Return an input of the owned rate: the replaced one, else the base value of the catalogue."""
    value = replaced.get(name, default_cost(name))
    if value is None:
        raise ValueError(f"onprem_costs.yaml has no base value of {name}")
    return value


def input_ranges(answers: Answers) -> dict[str, InputRange]:
    """Return the dated ranges of the inputs of the owned rate. A quotation of the answers has no range."""
    facts, costs = assessment_facts(), onprem_costs()
    ranges: dict[str, InputRange] = {}
    gpu = facts.gpus[answers.utilisation.gpu]
    if gpu.node_usd is not None and gpu.source is not None and answers.prices.node_usd is None:
        ranges["node_usd"] = InputRange("price of a node in USD", *gpu.node_usd, _basis(facts.sources[gpu.source]))
    for name, title in facts.inputs.items():
        row = costs.inputs[name]
        if row.low is not None and row.high is not None:
            ranges[name] = InputRange(title, row.low, row.high, _basis(costs.sources[row.source]))
    return ranges


def _basis(source: PriceSource) -> PriceBasis:
    return PriceBasis(source.title, source.date, source.confidence)


def _price(purchase: PriceKind, instance: str, region: str) -> tuple[float, float, PriceBasis] | None:
    price = price_of(purchase, instance, region)
    if price is None:
        return None
    low, high = (price.usd, price.usd) if isinstance(price, Price) else (price.low, price.high)
    return low, high, PriceBasis(price.source, price.as_of, price.confidence)
