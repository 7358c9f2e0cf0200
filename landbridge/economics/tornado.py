"""Sensitivity of an owned GPU-hour: each input from its lowest to its highest published value, the others unchanged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from landbridge.catalog import onprem_costs, platforms
from landbridge.catalog.hardware.onprem_costs import CostInput
from landbridge.plan.cost.owned_inputs import OwnedGroup
from landbridge.plan.cost.owned_node import MONTHS_PER_YEAR, Debt, NodeInputs, onprem_node_hour


@dataclass(frozen=True, slots=True)
class TornadoBar:
    """Result in USD for a used GPU-hour with an input at its low and its high value. `base` is None for a term that the
    environment does not count.
    """

    name: str
    unit: str
    low: float
    base: float | None
    high: float
    usd_low: float
    usd_high: float
    usd_base: float

    @property
    def effect(self) -> float:
        """Difference between the highest and the lowest result."""
        results = (self.usd_low, self.usd_base, self.usd_high)
        return max(results) - min(results)


#: Fields of NodeInputs that are inputs of the catalogue with the same name, or with the name given here.
_FIELDS: Mapping[str, str] = {
    "years": "years",
    "residual_share": "residual_share",
    "network_share": "network_share",
    "maintenance_share": "maintenance_share",
    "pue": "pue",
    "usd_kwh": "usd_kwh",
    "space_usd_month": "space_usd_month",
    "staff_per_node": "staff_per_node",
    "staff_usd_year": "staff_usd_year",
}


def tornado(group: OwnedGroup, utilisation: float) -> tuple[TornadoBar, ...]:
    """Return the bars of a group with a price, the largest effect first. An input without a published range has none.

    Raises ValueError for a group without a price.
    """
    if group.inputs is None:
        raise ValueError(f"{group.hosts}: {group.missing}")
    node, gpus = group.inputs, group.gpus or 1

    def result(changed: NodeInputs, used: float = utilisation) -> float:
        return onprem_node_hour(changed, used).usd / gpus / used

    bars = [*_field_bars(node, result), *_node_bars(group, node, result), _financing_bar(node, result)]
    used = onprem_costs().inputs["utilisation"]
    ends = _ends(used, utilisation)
    usd = (result(node, ends[0]), result(node, ends[1]), result(node))
    bars.append(TornadoBar("utilisation", used.unit, ends[0], utilisation, ends[1], *usd))
    return tuple(sorted(bars, key=lambda bar: -bar.effect))


def _field_bars(node: NodeInputs, result: Callable[[NodeInputs], float]) -> Iterator[TornadoBar]:
    for field, name in _FIELDS.items():
        facts, value = onprem_costs().inputs[name], getattr(node, field)
        if name == "residual_share":
            facts = _resale(facts, node.years)
        if value is not None and facts.low is not None:
            yield _bar(name, facts, value, partial(_with_field, node, field, result), result(node))


def _with_field(node: NodeInputs, field: str, result: Callable[[NodeInputs], float], value: float) -> float:
    changes: dict[str, Any] = {field: value}
    return result(replace(node, **changes))


def _node_bars(group: OwnedGroup, node: NodeInputs, result: Callable[[NodeInputs], float]) -> Iterator[TornadoBar]:
    """Yield the bars of price and power, whose ranges are published by GPU model."""
    facts = platforms().get(group.platform)
    ranges = onprem_costs().nodes.get(facts.gpu_model) if facts is not None else None
    if ranges is None:
        return
    yield _bar(
        "purchase_usd", ranges.price_usd, node.price_usd, lambda end: result(replace(node, price_usd=end)), result(node)
    )
    share = node.idle_kw / node.load_kw if node.load_kw else 1.0
    yield _bar(
        "load_kw",
        ranges.power_kw,
        node.load_kw,
        lambda end: result(replace(node, load_kw=end, idle_kw=end * share)),
        result(node),
    )


def _financing_bar(node: NodeInputs, result: Callable[[NodeInputs], float]) -> TornadoBar:
    facts, debt = onprem_costs().inputs["financing_rate"], node.debt
    years = debt.years if debt is not None else node.years
    rate = debt.rate if debt is not None else None
    return _bar("financing_rate", facts, rate, lambda end: result(replace(node, debt=Debt(end, years))), result(node))


def _bar(name: str, facts: CostInput, value: float | None, result: Callable[[float], float], base: float) -> TornadoBar:
    low, high = _ends(facts, value)
    return TornadoBar(name, facts.unit, low, value, high, result(low), result(high), base)


def _ends(facts: CostInput, value: float | None) -> tuple[float, float]:
    """Return the ends of the published range, extended to the environment's value."""
    ends = [end for end in (facts.low, facts.high, value) if end is not None]
    return min(ends), max(ends)


def _resale(facts: CostInput, years: float) -> CostInput:
    """Return the range of the residual value after the years of use: from none to the highest published resale."""
    by_months = onprem_costs().resale.by_months
    known = [months for months in by_months if months <= years * MONTHS_PER_YEAR]
    high = by_months[max(known) if known else min(by_months)][1]
    return facts.model_copy(update={"low": 0.0, "base": 0.0, "high": high})
