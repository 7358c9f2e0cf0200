"""Quantities of a published model, such as `250,141.80 USD` or `8 x 0.7 kW`: a number with a unit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

#: Dimension of each unit, and its factor to the base unit of the dimension. The base units are USD, USD/h, h, share, share a
#: year, kW, USD/kWh, USD/h for a kW, tokens/s, USD for a million tokens, full-time equivalents, GPUs, h/day.
UNITS: Mapping[str, tuple[str, float]] = {
    "USD": ("money", 1.0),
    "kUSD": ("money", 1e3),
    "MUSD": ("money", 1e6),
    "USD/h": ("rate", 1.0),
    "USD/month": ("rate", 1.0),
    "USD/year": ("rate", 1 / 8760),
    "USD/GPU-h": ("gpu rate", 1.0),
    "h": ("time", 1.0),
    "days": ("time", 24.0),
    "months": ("time", 1.0),
    "years": ("time", 8760.0),
    "%": ("share", 0.01),
    "1": ("share", 1.0),
    "%/year": ("share a year", 0.01),
    "kW": ("power", 1.0),
    "W": ("power", 1e-3),
    "USD/kWh": ("energy price", 1.0),
    "USD/kW-month": ("rate for a kW", 1.0),
    "tokens/s": ("token speed", 1.0),
    "USD/Mtokens": ("token price", 1.0),
    "FTE": ("people", 1.0),
    "GPUs": ("GPUs", 1.0),
    "h/day": ("hours a day", 1.0),
}
#: Units that contain a month: their factor depends on the model's hours of a month.
_MONTHLY = {"USD/month": -1, "months": 1, "USD/kW-month": -1}
_HIGHEST = 1e15
_FORM = re.compile(
    r"(?:(?P<count>\d+) x )?(?P<number>-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<decimals>\d+))?) ?(?P<unit>\D\S*|1)?"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Number with a unit; infinite for `never`. `digit`: value of the last digit that is written, in the unit."""

    number: float
    unit: str
    digit: float

    @property
    def dimension(self) -> str:
        """Dimension of the unit, such as money."""
        return UNITS[self.unit][0]

    def base(self, hours_per_month: float) -> float:
        """Return the value in the base unit of the dimension."""
        return self.number * factor(self.unit, hours_per_month)


def factor(unit: str, hours_per_month: float) -> float:
    """Return the factor of a unit to the base unit of its dimension."""
    exponent = _MONTHLY.get(unit, 0)
    return UNITS[unit][1] * float(hours_per_month**exponent)


def parse(text: str) -> Quantity | str:
    """Return the quantity of a text, or the reason why it is not a quantity."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return f'"{text}" is not a number with a unit'
    unit = match["unit"] or ""
    if not unit:
        return f'"{text}" has no unit'
    if unit not in UNITS:
        return f'the unit "{unit}" is not known'
    number = float(match["number"].replace(",", "")) * int(match["count"] or 1)
    if number > _HIGHEST:
        return f'"{text}" is too large'
    return Quantity(number, unit, 10.0 ** -len(match["decimals"] or ""))
