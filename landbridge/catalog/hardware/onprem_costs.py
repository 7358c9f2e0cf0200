"""Costs of owned GPU nodes (onprem_costs.yaml): each input with its published range, source and date."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import model_validator

from landbridge.catalog.aws.prices import PriceSource
from landbridge.catalog.files import Facts, load, package, read


class CostInput(Facts):
    """Input of a cost: default `base` and the ends `low` and `high` of its published range, in `unit`.

    None: no default, or no range is published.
    """

    unit: str
    low: float | None = None
    base: float | None = None
    high: float | None = None
    source: str
    note: str | None = None

    @model_validator(mode="after")
    def _in_order(self) -> "CostInput":
        known = [value for value in (self.low, self.base, self.high) if value is not None]
        if known != sorted(known) or (self.low is None) != (self.high is None):
            raise ValueError("low, base and high must be in this order, with both ends or none")
        return self


class NodeRanges(Facts):
    """Ranges of the purchase price and of the maximum power of nodes with one GPU model."""

    price_usd: CostInput
    power_kw: CostInput


class Resale(Facts):
    """Lowest and highest share of its price for which a used server was sold, by months of use."""

    source: str
    by_months: Mapping[int, tuple[float, float]]


class OnPremCosts(Facts):
    """Facts of onprem_costs.yaml. `nodes` are by GPU model; `rule_of_thumb` is a published break-even utilisation."""

    source: str
    date: date
    sources: Mapping[str, PriceSource]
    inputs: Mapping[str, CostInput]
    nodes: Mapping[str, NodeRanges]
    resale: Resale
    rule_of_thumb: CostInput

    @model_validator(mode="after")
    def _sources_are_named(self) -> "OnPremCosts":
        ranges = [item for node in self.nodes.values() for item in (node.price_usd, node.power_kw)]
        named = {item.source for item in (*self.inputs.values(), *ranges, self.rule_of_thumb)} | {self.resale.source}
        if unlisted_sources := named - set(self.sources):
            raise ValueError(f"inputs name sources that are not listed: {', '.join(sorted(unlisted_sources))}")
        return self


@cache
def onprem_costs() -> OnPremCosts:
    """Return the inputs of an owned node's cost (cached)."""
    return read("onprem_costs", OnPremCosts)


def default_cost(name: str) -> float | None:
    """Return the base value of an input; None if the catalogue has none. Raises KeyError for an unknown name."""
    value = _default_values()[name]
    return None if value is None else float(value)


@cache
def _default_values() -> Mapping[str, float | int | None]:
    # Every environment reads the defaults, and the validation of the whole file takes several times as long as reading it.
    return {name: facts.get("base") for name, facts in load(package(), "onprem_costs")["inputs"].items()}
