"""Acceptance thresholds of GPU nodes (acceptance.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import model_validator

from landbridge.catalog.aws.instances import instances
from landbridge.catalog.files import Facts, read
from landbridge.catalog.hardware.gpus import gpus


class Shares(Facts):
    """Required shares of a theoretical bound, used without a measured threshold."""

    nvlink: float
    peer: float
    fabric: float
    host: float


class Size(Facts):
    """Message size in bytes, and the share of the threshold that it must reach."""

    bytes: int
    share: float


class AcceptanceThreshold(Facts):
    """All-reduce threshold of `gpus` GPUs in one node: bus bandwidth in GB/s with messages of `bytes`."""

    gb_s: float
    gpus: int
    bytes: int


class GpuRow(Facts):
    """Thresholds in use on real clusters, GB/s; None: not known."""

    node: AcceptanceThreshold | None = None
    host: float | None = None
    peer: float | None = None


class EfaRuns(Facts):
    """Published all-reduce runs on two instances: bus bandwidth in GB/s by instance type and message size in bytes.

    `share`: required share of a published value.
    """

    source: str
    date: date
    share: float
    runs: Mapping[str, Mapping[int, float]]


class Acceptance(Facts):
    """Facts of acceptance.yaml. `sizes` are ascending, `pcie_lane`: GB/s per lane by generation, `gpus`: by model,
    `programs`: files of programs that may not be on PATH.
    """

    source: str
    date: date
    shares: Shares
    sizes: tuple[Size, ...]
    pcie_lane: Mapping[int, float]
    gpus: Mapping[str, GpuRow]
    efa: EfaRuns
    programs: Mapping[str, tuple[str, ...]]

    @model_validator(mode="after")
    def _known(self) -> "Acceptance":
        unknown_gpus = sorted(set(self.gpus) - set(gpus()))
        if unknown_gpus:
            raise ValueError(f"gpus.yaml has no {', '.join(unknown_gpus)}")
        unknown_types = sorted(set(self.efa.runs) - set(instances()))
        if unknown_types:
            raise ValueError(f"instances/ has no {', '.join(unknown_types)}")
        return self


@cache
def acceptance() -> Acceptance:
    """Return thresholds and shares (cached)."""
    return read("acceptance", Acceptance)
