"""Source and date of each term of an owned node's cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from landbridge.catalog import Platform, onprem_costs
from landbridge.environment import Costs, OwnedNode
from landbridge.plan.cost.owned_node import Term

#: Input of the catalogue that decides on a term, and the key of `onprem.costs` that replaces it.
_INPUTS: Mapping[Term, tuple[str, str]] = {
    "residual": ("residual_share", "residual_share"),
    "financing": ("financing_rate", "financing"),
    "network": ("network_share", "network_share"),
    "maintenance": ("maintenance_share", "maintenance_share"),
    "power": ("usd_kwh", "power"),
    "space": ("space_usd_month", "space_usd_month"),
    "storage": ("storage_usd_month", "storage_usd_month"),
    "staff": ("staff_usd_year", "staff"),
}


@dataclass(frozen=True, slots=True)
class TermSource:
    """Source of a term's input. `as_of` is None for a value of the environment file."""

    as_of: date | None
    source: str
    confidence: str


def term_source(costs: Costs, settings: OwnedNode, facts: Platform | None, term: Term) -> TermSource:
    """Return the source of a term: the environment file if it sets the input, else the catalogue's."""
    table = onprem_costs()
    from_file = TermSource(None, "onprem.costs of the environment file", "primary")
    if term == "purchase":
        if settings.purchase_usd is not None or facts is None:
            return from_file
        return TermSource(facts.date, facts.source, "secondary")
    name, key = _INPUTS[term]
    if key in costs.model_fields_set or (term == "residual" and settings.residual_share is not None):
        return from_file
    source = table.sources[table.inputs[name].source]
    return TermSource(source.date, source.title, source.confidence)
