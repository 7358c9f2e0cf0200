"""Packages of GPU nodes that are published, by operating system and processor architecture (published.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

ProductName = Literal["dcgm", "container_toolkit", "efa", "gdrcopy", "fsx_lustre"]


class PublishedDriver(Facts):
    """Driver branches by operating system and processor architecture."""

    name: str
    source: str
    as_of: date = Field(alias="date")
    systems: Mapping[str, Mapping[str, tuple[str, ...]]]

    def branches(self, system: str, architecture: str) -> tuple[str, ...]:
        """Return the branches for a system; empty if there are none."""
        return self.systems.get(system, {}).get(architecture, ())

    def systems_with(self, branch: str, architecture: str) -> tuple[str, ...]:
        """Return the operating systems that have this branch."""
        return tuple(system for system in self.systems if branch in self.branches(system, architecture))


class Product(Facts):
    """Product beside the driver: architectures by operating system."""

    name: str
    source: str
    as_of: date = Field(alias="date")
    systems: Mapping[str, tuple[str, ...]]

    def is_published(self, system: str, architecture: str) -> bool:
        """Return true if there are packages for a system."""
        return architecture in self.systems.get(system, ())

    def systems_with(self, architecture: str) -> tuple[str, ...]:
        """Return the operating systems that have packages for an architecture."""
        return tuple(system for system, architectures in self.systems.items() if architecture in architectures)


class SystemWithSoftware(Facts):
    """Operating system that includes GPU software. `packages` is the system whose packages of other software it uses."""

    name: str
    source: str
    as_of: date = Field(alias="date")
    packages: str
    software: tuple[Literal["driver", "dcgm", "container_toolkit"], ...]


class Published(Facts):
    """Facts of published.yaml. `driver` is NVIDIA's repository, `driver_of_distribution` Canonical's archive."""

    source: str
    as_of: date = Field(alias="date")
    driver: PublishedDriver
    driver_of_distribution: PublishedDriver
    with_software: Mapping[str, SystemWithSoftware]
    products: Mapping[ProductName, Product]

    def includes_driver(self, system: str) -> bool:
        """Return true if the operating system includes NVIDIA's driver."""
        return system in self.with_software and "driver" in self.with_software[system].software

    def includes_dcgm(self, system: str) -> bool:
        """Return true if the operating system includes DCGM and the repository of its packages."""
        return system in self.with_software and "dcgm" in self.with_software[system].software

    def packages_of(self, system: str) -> str:
        """Return the operating system whose packages a system uses: itself, or the one that it is made from."""
        return self.with_software[system].packages if system in self.with_software else system


@cache
def published() -> Published:
    """Return what is published (cached)."""
    return read("published", Published)
