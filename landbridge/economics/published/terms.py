"""Terms and results that a published model may use. A file chooses among them; it contains no formula."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InputTerm:
    """Input of a published model: its dimensions, and whether it may be a mapping of named parts, which are added.

    `limits`: lowest and highest value and their unit; with `above_low` the value is more than the lowest one.
    """

    dimensions: tuple[str, ...]
    description: str
    parts: bool = False
    limits: tuple[float, float, str] | None = None
    above_low: bool = False


@dataclass(frozen=True, slots=True)
class ResultShape:
    """Result of a published model: its dimension, the terms that it needs (each one of a group), and its formula in words."""

    dimension: str
    needs: tuple[tuple[str, ...], ...]
    description: str


_RATES = ("rate", "gpu rate")
_WHOLE = (0, 100, "%")
_TIME = (0, 100, "years")
INPUTS: Mapping[str, InputTerm] = {
    "capex": InputTerm(("money",), "paid once: machines, fabric, set-up", parts=True),
    "residual": InputTerm(("share",), "resale value at the end of the horizon, of capex", limits=_WHOLE),
    "network": InputTerm(("share",), "fabric, of capex, in addition to it"),
    "maintenance": InputTerm(("share a year",), "maintenance, of capex"),
    "opex": InputTerm(_RATES, "costs by time, whether the machines are used or not", parts=True),
    "power": InputTerm(("power",), "power of the machines with jobs"),
    "idle_power": InputTerm(("power",), "power of the machines without jobs; without it: as with jobs"),
    "electricity": InputTerm(("energy price",), "price of electricity"),
    "pue": InputTerm(("share",), "PUE of the room", limits=(1, 10, "1")),
    "space": InputTerm(("rate", "rate for a kW"), "colocation, or its price for a kW of power"),
    "staff": InputTerm(("people",), "people who operate the machines"),
    "salary": InputTerm(("rate",), "cost of one of these people"),
    "interest": InputTerm(("share a year",), "interest of a debt for capex, repaid in equal payments"),
    "debt": InputTerm(
        ("time",), "time until the debt is repaid; without it: the horizon", limits=_TIME, above_low=True
    ),
    "payment": InputTerm(("rate",), "stated payment of the debt, instead of interest"),
    "cloud": InputTerm(_RATES, "price of renting", parts=True),
    "cloud_once": InputTerm(("money",), "paid once for renting: set-up, or a reservation's upfront payment"),
    "discount": InputTerm(("share",), "discount of the price of renting, such as a reservation's", limits=_WHOLE),
    "horizon": InputTerm(("time",), "time over which the costs are counted", limits=_TIME, above_low=True),
    "utilisation": InputTerm(
        ("share",), "share of the hours with jobs; rented machines are paid for these hours", limits=_WHOLE
    ),
    "hours_per_month": InputTerm(("time",), "hours of a month; without it: 730", limits=(600, 744, "h")),
    "gpus": InputTerm(("GPUs",), "GPUs of the machines"),
    "tokens": InputTerm(("token speed",), "tokens that the machines produce"),
    "amounts": InputTerm(("money", "rate"), "amounts that are added", parts=True),
    "less": InputTerm(("money", "rate"), "amounts that are subtracted", parts=True),
}
_OWNED = (("capex", "opex"),)
_TOTALS = (*_OWNED, ("horizon",))
RESULTS: Mapping[str, ResultShape] = {
    "sum": ResultShape("money", (("amounts",),), "amounts - less"),
    "monthly_sum": ResultShape("rate", (("amounts",),), "amounts - less, of costs by time"),
    "opex_hour": ResultShape("rate", (), "opex + maintenance + electricity + space + staff + interest, without capex"),
    "owned_hour": ResultShape("rate", _OWNED, "(capex + network - residual) / horizon + opex_hour"),
    "owned_total": ResultShape("money", _TOTALS, "owned_hour x horizon"),
    "owned_gpu_hour": ResultShape("gpu rate", (*_OWNED, ("gpus",)), "owned_hour / gpus / utilisation"),
    "owned_token_price": ResultShape("token price", (*_OWNED, ("tokens",)), "owned_hour / utilisation / tokens"),
    "cloud_hour": ResultShape("rate", (("cloud",),), "cloud x (1 - discount) x utilisation + cloud_once / horizon"),
    "cloud_total": ResultShape("money", (("cloud",), ("horizon",)), "cloud_hour x horizon"),
    "cloud_gpu_hour": ResultShape("gpu rate", (("cloud",), ("gpus",)), "cloud_hour / gpus / utilisation"),
    "cloud_token_price": ResultShape("token price", (("cloud",), ("tokens",)), "cloud_hour / utilisation / tokens"),
    "saving": ResultShape("money", (*_TOTALS, ("cloud",)), "cloud_total - owned_total"),
    "saving_share": ResultShape("share", (*_TOTALS, ("cloud",)), "saving / cloud_total"),
    "cost_ratio": ResultShape("share", (*_OWNED, ("cloud",)), "cloud_hour / owned_hour"),
    "ratio_of_sums": ResultShape("share", (("amounts",), ("less",)), "amounts / less"),
    "share_of_sum": ResultShape("share", (("amounts",), ("less",)), "(amounts - less) / amounts"),
    "breakeven": ResultShape("time", (("capex",), ("cloud",)), "capex / (cloud_hour - opex_hour)"),
    "breakeven_utilisation": ResultShape(
        "share", (*_OWNED, ("cloud",)), "utilisation at which renting for the used hours costs owned_hour"
    ),
    "breakeven_hours_per_day": ResultShape(
        "hours a day", (*_TOTALS, ("cloud",)), "hours of renting a day that cost owned_total"
    ),
    "payment": ResultShape("rate", (("capex",), ("interest", "payment")), "payment of the debt (annuity)"),
    "interest": ResultShape("money", (("capex",), ("interest", "payment")), "payments of the debt less capex"),
}
