"""EKS versions and limits (kubernetes.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class KubernetesVersion(Facts):
    """Ends of standard and of extended support. None: not known."""

    standard_until: date | None = None
    extended_until: date | None = None


class PodLimits(Facts):
    """Maximum pods of one node: `few` up to `up_to_vcpus`, `many` above."""

    up_to_vcpus: int
    few: int
    many: int


class HybridLimits(Facts):
    """Requirements of EKS Hybrid Nodes on the link."""

    delay_ms: int
    mbps: int


class Eks(Facts):
    """Facts of kubernetes.yaml. `zones_without`: zones in which EKS cannot place its network interfaces."""

    source: str
    as_of: date = Field(alias="date")
    versions: Mapping[str, KubernetesVersion]
    service_prefixes: tuple[int, int]
    zones: int
    zones_without: tuple[str, ...]
    least_free_addresses: int
    pods: PodLimits
    remote_networks: int
    hybrid: HybridLimits


@cache
def eks() -> Eks:
    """Return the facts of EKS (cached)."""
    return read("kubernetes", Eks)
