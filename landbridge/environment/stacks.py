"""Number of Pulumi stacks of an environment."""

from typing import Literal

#: From the bottom up: each reads what the ones before it have made.
Layer = Literal["foundation", "cluster", "platform"]
LAYERS: tuple[Layer, ...] = ("foundation", "cluster", "platform")
Stacks = Literal["one", "three"]
