"""NVIDIA's driver: its branches, and its packages by system and repository (gpu_stack.yaml)."""

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read
from landbridge.catalog.hardware.gpus import Flavour

#: Source of a driver: NVIDIA's repository or the distribution's archive, never both.
Source = Literal["nvidia", "distribution"]


class Branch(Facts):
    """Driver branch. `release` is its default release; `without` are GPU generations that it does not support."""

    kind: Literal["lts", "production", "new_feature"]
    until: date
    without: tuple[str, ...] = ()
    release: str | None = None


class UnsupportedBranch(Facts):
    """Packages that must not come from an archive, in the terms of apt's preferences."""

    origin: str
    packages: tuple[str, ...]


Parts = Mapping[str, tuple[str, ...]]


class DriverPackages(Facts):
    """Driver packages in one repository for one system; `{branch}` is replaced by the branch (see gpu_stack.yaml)."""

    uris: str | None = None
    key: str | None = None
    fingerprint: str | None = None
    pinned: tuple[str, ...]
    refused: UnsupportedBranch
    owner_key: str | None = None
    strangers: str
    driver: Mapping[str, Mapping[Flavour, tuple[str, ...]]]
    locked: Mapping[str, Parts]
    beside: Parts
    kernel: tuple[str, ...]
    headers: tuple[str, ...]
    signed: bool = False
    unversioned: str | None = None

    def driver_of(self, branch: str) -> Mapping[Flavour, tuple[str, ...]]:
        """Return a branch's packages of the driver, by flavour of the kernel modules."""
        return self.driver[_row(self.driver, branch)]

    def locked_of(self, branch: str) -> Parts:
        """Return a branch's packages with the driver's version, by part."""
        return self.locked[_row(self.locked, branch)]


def _row(rows: Iterable[str], branch: str) -> str:
    """Return the key of the names that a branch has: the first branch that is not before it, or `newer`."""
    return next((key for key in sorted(rows) if key != "newer" and int(branch) <= int(key)), "newer")


class GpuStack(Facts):
    """Facts of gpu_stack.yaml. `branch` is the default branch."""

    source: str
    as_of: date = Field(alias="date")
    branch: str
    branches: Mapping[str, Branch]
    systems: Mapping[str, Mapping[Source, DriverPackages]]


@cache
def gpu_stack() -> GpuStack:
    """Return the facts of NVIDIA's driver."""
    return read("gpu_stack", GpuStack)
