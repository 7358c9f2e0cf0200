"""Exact amounts of money: fractions of a dollar, and their rounding so that the parts add up to the rounded sum."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

MICRO_USD, CENT = Fraction(1, 1_000_000), Fraction(1, 100)


def exact(value: float) -> Fraction:
    """Return the decimal number that is printed for a float, without its binary error."""
    return Fraction(Decimal(repr(value)))


def apportion(amounts: Sequence[Fraction], unit: Fraction) -> list[Fraction]:
    """Round amounts to multiples of `unit` so that they add up to their rounded sum.

    Each amount is rounded down, and the units that the sum has more go to the largest remainders (Hamilton's method).
    """
    counts = [math.floor(amount / unit) for amount in amounts]
    left = round(sum(amounts, Fraction(0)) / unit) - sum(counts)
    by_remainder = sorted(range(len(amounts)), key=lambda at: (counts[at] - amounts[at] / unit, at))
    for at in by_remainder[:left]:
        counts[at] += 1
    return [count * unit for count in counts]


def decimal_of(amount: Fraction, digits: int = 6) -> Decimal:
    """Return a fraction as a decimal number with `digits` digits after the point."""
    return Decimal(round(amount * 10**digits)).scaleb(-digits)
