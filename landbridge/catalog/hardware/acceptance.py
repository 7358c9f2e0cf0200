"""Thresholds that a machine must reach before it is accepted (acceptance.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import model_validator

from landbridge.catalog.files import Facts, read
from landbridge.catalog.hardware.gpus import gpus


class Shares(Facts):
    """Required shares of a theoretical bound, where no measured threshold is known."""

    nvlink: float
    fabric: float
    host: float


class Size(Facts):
    """A message's length in bytes, and what share of the threshold it has to reach."""

    bytes: int
    share: float


class AcceptanceThreshold(Facts):
    """All-reduce of `gpus` GPUs in one machine: bus bandwidth in GB/s, at messages of `bytes`."""

    gb_s: float
    gpus: int
    bytes: int


class GpuRow(Facts):
    """Thresholds in use on a real fleet, GB/s; None: none is known."""

    node: AcceptanceThreshold | None = None
    host: float | None = None
    peer: float | None = None


class Acceptance(Facts):
    """The file. `sizes` go up, `pcie_lane` is GB/s of one lane by generation, `gpus` are by form."""

    source: str
    date: date
    shares: Shares
    sizes: tuple[Size, ...]
    pcie_lane: Mapping[int, float]
    gpus: Mapping[str, GpuRow]

    @model_validator(mode="after")
    def _known(self) -> "Acceptance":
        strange = sorted(set(self.gpus) - set(gpus()))
        if strange:
            raise ValueError(f"gpus.yaml has no {', '.join(strange)}")
        return self


@cache
def acceptance() -> Acceptance:
    """Thresholds and shares."""
    return read("acceptance", Acceptance)
