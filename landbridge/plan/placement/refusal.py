"""Reason why a job may not run at a destination, with its source."""

from dataclasses import dataclass
from typing import Literal

#: Hard filters, in the order of their evaluation.
Filter = Literal[
    "residency", "regime", "class", "partition", "gravity", "gpu", "deadline", "instrument", "price", "budget"
]


@dataclass(frozen=True, slots=True)
class DestinationRefusal:
    """Refusal of a destination by one filter. `citation`: key of the environment file, or the law of a regime."""

    filter: Filter
    text: str
    citation: str
