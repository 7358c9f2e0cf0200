"""Pulumi stacks of an environment: one, or three layers."""

from typing import Literal

#: In order of deployment: each layer uses stack outputs of the earlier ones.
Layer = Literal["foundation", "cluster", "platform"]
LAYERS: tuple[Layer, ...] = ("foundation", "cluster", "platform")
Stacks = Literal["one", "three"]
