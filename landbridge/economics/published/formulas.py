"""Results of a published model from its inputs, with the formula of owned nodes of landbridge/plan/cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from landbridge.plan.cost.owned_node import (
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    Debt,
    NodeInputs,
    breakeven_hours,
    interest,
    monthly_payment,
    onprem_node_hour,
    running_hour,
    upfront_usd,
)

_HOURS_PER_DAY = 24
_SECONDS_PER_HOUR = 3600


class NoResultError(Exception):
    """Inputs without a result, such as a break-even that never comes; the message contains the reason."""


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """Inputs of a row in base units, by term; terms with parts are summed. `always_billed`: rented machines are paid for
    all hours, as a reservation, not only for those with jobs. `debt_months`: months until a debt is repaid.
    """

    values: Mapping[str, float]
    hours_per_month: float
    debt_months: float = 0.0
    always_billed: bool = False

    def get(self, term: str, default: float = 0.0) -> float:
        """Return the value of a term, or a default without it."""
        return self.values.get(term, default)

    @property
    def node(self) -> NodeInputs:
        """Inputs of the formula of an owned node."""
        power = self.get("power")
        return NodeInputs(
            price_usd=self.get("capex"),
            years=self.get("horizon", float(HOURS_PER_YEAR)) / HOURS_PER_YEAR,
            residual_share=self.values.get("residual"),
            debt=self.debt,
            network_share=self.values.get("network"),
            maintenance_share=self.values.get("maintenance"),
            idle_kw=self.get("idle_power", power),
            load_kw=power,
            pue=self.get("pue", 1.0),
            usd_kwh=self.values.get("electricity"),
            staff_per_node=self.get("staff"),
            staff_usd_year=self.get("salary") * HOURS_PER_YEAR if "salary" in self.values else None,
        )

    @property
    def debt(self) -> Debt | None:
        """Debt for capex; None without interest or payment."""
        years = self.debt_months / MONTHS_PER_YEAR
        if "payment" in self.values:
            return Debt(None, years, self.get("payment") * self.hours_per_month)
        return Debt(self.get("interest"), years) if "interest" in self.values else None

    @property
    def utilisation(self) -> float:
        """Share of the hours with jobs."""
        return self.get("utilisation", 1.0)

    @property
    def other_opex(self) -> float:
        """Costs by time that are stated in USD, for an hour."""
        return self.get("opex") + self.get("space")


def _opex_hour(inputs: ModelInputs) -> float:
    return running_hour(inputs.node, inputs.utilisation) + inputs.other_opex


def _owned_hour(inputs: ModelInputs) -> float:
    return onprem_node_hour(inputs.node, inputs.utilisation).usd + inputs.other_opex


def _cloud_price(inputs: ModelInputs) -> float:
    return inputs.get("cloud") * (1 - inputs.get("discount"))


def _cloud_hour(inputs: ModelInputs) -> float:
    used = 1.0 if inputs.always_billed else inputs.utilisation
    once = inputs.get("cloud_once") / inputs.get("horizon") if "cloud_once" in inputs.values else 0.0
    return _cloud_price(inputs) * used + once


def _owned_total(inputs: ModelInputs) -> float:
    return _owned_hour(inputs) * inputs.get("horizon")


def _cloud_total(inputs: ModelInputs) -> float:
    return _cloud_hour(inputs) * inputs.get("horizon")


def _sum(inputs: ModelInputs) -> float:
    return inputs.get("amounts") - inputs.get("less")


def _breakeven(inputs: ModelInputs) -> float:
    cloud = _cloud_price(inputs) * (1.0 if inputs.always_billed else inputs.utilisation)
    upfront = upfront_usd(inputs.node) - inputs.get("cloud_once")
    hours = breakeven_hours(upfront, cloud, _opex_hour(inputs))
    if hours is None:
        raise NoResultError("renting costs no more than running the machines: it never breaks even")
    return hours


def _breakeven_utilisation(inputs: ModelInputs) -> float:
    idle, busy = (onprem_node_hour(inputs.node, used).usd + inputs.other_opex for used in (0.0, 1.0))
    saved = _cloud_price(inputs) - (busy - idle)
    if saved <= 0:
        raise NoResultError("renting costs no more than the power of jobs: it never breaks even")
    if idle > saved:
        raise NoResultError(
            f"renting for all hours costs less, {saved / idle:.0%} of the machines: it never breaks even"
        )
    return idle / saved


def _breakeven_hours_per_day(inputs: ModelInputs) -> float:
    if _cloud_price(inputs) <= 0:
        raise NoResultError("renting costs nothing: it never breaks even")
    hours = _owned_total(inputs) / _cloud_price(inputs) / (inputs.get("horizon") / _HOURS_PER_DAY)
    if hours > _HOURS_PER_DAY:
        raise NoResultError("renting for all hours costs less: it never breaks even")
    return hours


def _token_price(hour: float, inputs: ModelInputs) -> float:
    tokens = _divisor(inputs.get("tokens") * inputs.utilisation, "no token is produced")
    return hour / (tokens * _SECONDS_PER_HOUR) * 1e6


def _gpu_hour(hour: float, inputs: ModelInputs) -> float:
    return hour / _divisor(inputs.get("gpus") * inputs.utilisation, "no GPU-hour is used")


def _debt(inputs: ModelInputs) -> Debt:
    debt = inputs.debt
    if debt is None or debt.years <= 0:
        raise NoResultError("the time of the debt is not known")
    return debt


def _divisor(value: float, reason: str) -> float:
    if value == 0:
        raise NoResultError(reason)
    return value


#: Formula of each result, in its base unit.
FORMULAS: Mapping[str, Callable[[ModelInputs], float]] = {
    "sum": _sum,
    "monthly_sum": _sum,
    "opex_hour": _opex_hour,
    "owned_hour": _owned_hour,
    "owned_total": _owned_total,
    "owned_gpu_hour": lambda inputs: _gpu_hour(_owned_hour(inputs), inputs),
    "owned_token_price": lambda inputs: _token_price(_owned_hour(inputs), inputs),
    "cloud_hour": _cloud_hour,
    "cloud_total": _cloud_total,
    "cloud_gpu_hour": lambda inputs: _gpu_hour(_cloud_hour(inputs), inputs),
    "cloud_token_price": lambda inputs: _token_price(_cloud_hour(inputs), inputs),
    "saving": lambda inputs: _cloud_total(inputs) - _owned_total(inputs),
    "saving_share": lambda inputs: 1 - _owned_total(inputs) / _divisor(_cloud_total(inputs), "renting costs nothing"),
    "cost_ratio": lambda inputs: _cloud_hour(inputs) / _divisor(_owned_hour(inputs), "the machines cost nothing"),
    "ratio_of_sums": lambda inputs: inputs.get("amounts") / _divisor(inputs.get("less"), "the second amount is 0"),
    "share_of_sum": lambda inputs: _sum(inputs) / _divisor(inputs.get("amounts"), "the amounts are 0"),
    "breakeven": _breakeven,
    "breakeven_utilisation": _breakeven_utilisation,
    "breakeven_hours_per_day": _breakeven_hours_per_day,
    "payment": lambda inputs: monthly_payment(inputs.get("capex"), _debt(inputs)) / inputs.hours_per_month,
    "interest": lambda inputs: interest(inputs.get("capex"), _debt(inputs)),
}
