"""Typed readers of the catalogue's files: each is read once, on first use, and checked against its model."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict
from ruamel.yaml import YAML

from landbridge import hostlist

Purchase = Literal["on_demand", "spot", "capacity_block"]


def _indices(text: str) -> frozenset[int]:
    return frozenset(int(item) for item in hostlist.expand(f"[{text}]")) if text else frozenset()


def _hosts(text: str) -> tuple[str, ...]:
    # A long list is folded over several lines, which leaves a space at each fold.
    return tuple(hostlist.expand(text.replace(" ", "")))


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Gpus(_Facts):
    """The GPUs of one machine. `type` is Slurm's word for them."""

    count: int
    type: str
    memory_mib: int


class Cpus(_Facts):
    """The processors of one machine; `cores` are all of them together."""

    sockets: int
    cores: int
    threads: int

    @property
    def cores_per_socket(self) -> int:
        """Cores of one socket."""
        return self.cores // self.sockets

    @property
    def logical(self) -> int:
        """Hardware threads: what Slurm calls CPUs."""
        return self.cores * self.threads


class NetworkCards(_Facts):
    """Network cards by index: how many interfaces each takes, which carry EFA, which should carry IP for bandwidth."""

    count: int
    interfaces: int
    efa: Annotated[frozenset[int], BeforeValidator(_indices)]
    ip: Annotated[frozenset[int], BeforeValidator(_indices)]


class InstanceType(_Facts):
    """One EC2 instance type."""

    gpus: Gpus
    cpus: Cpus
    memory_mib: int
    nvme_gb: int
    network_gbps: int
    cards: NetworkCards
    purchase: tuple[Purchase, ...]
    zones: Annotated[tuple[str, ...], BeforeValidator(_hosts)]

    def zones_in(self, region_zones: tuple[str, ...]) -> tuple[str, ...]:
        """The zones of a region that offer the type."""
        return tuple(zone for zone in region_zones if zone in self.zones)


class Platform(_Facts):
    """One kind of on-prem machine."""

    gpus: Gpus
    cpus: Cpus
    memory_mib: int
    power_kw: float
    price_usd: float | None


class OnPremRates(_Facts):
    """What an hour of an on-prem node is made of, besides the machine's price and power."""

    network_share: float
    years: float
    maintenance_share: float
    colocation_usd_month: float
    pue: float
    usd_kwh: float
    staff_per_node: float
    staff_usd_year: float


class Prices(_Facts):
    """Dated prices in US dollars; a price that is not known is not there."""

    source: str
    date: date
    on_demand: Mapping[str, Mapping[str, float]]
    capacity_block: Mapping[str, float]
    onprem: OnPremRates


class SlurmRelease(_Facts):
    """What a Slurm version has. `debian_release`: empty is Debian 13 itself, None that Debian carries none."""

    debian_release: str | None
    topology_yaml: bool
    requeue_on_resume_failure: bool
    expedited_requeue: bool
    metrics: bool
    node_suspend_time: bool


class _Instances(_Facts):
    source: str
    date: date
    instances: Mapping[str, InstanceType]


class _Platforms(_Facts):
    source: str
    date: date
    platforms: Mapping[str, Platform]


class _Regions(_Facts):
    source: str
    date: date
    regions: Mapping[str, Annotated[tuple[str, ...], BeforeValidator(_hosts)]]


class _Slurm(_Facts):
    source: str
    date: date
    versions: Mapping[str, SlurmRelease]


_T = TypeVar("_T", bound=_Facts)


def _read(name: str, model: type[_T]) -> _T:
    text = files("landbridge.catalog").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    data: Any = YAML(typ="safe", pure=True).load(text)
    return model.model_validate(data)


@cache
def instances() -> Mapping[str, InstanceType]:
    """EC2 instance types by name."""
    return _read("instances", _Instances).instances


@cache
def platforms() -> Mapping[str, Platform]:
    """On-prem platforms by name."""
    return _read("platforms", _Platforms).platforms


@cache
def prices() -> Prices:
    """Dated prices."""
    return _read("prices", Prices)


@cache
def regions() -> Mapping[str, tuple[str, ...]]:
    """Availability zone ids by region."""
    return _read("regions", _Regions).regions


def zones(region: str) -> tuple[str, ...]:
    """Availability zone ids of a region; none for a region that is not known."""
    return regions().get(region, ())


@cache
def slurm_releases() -> Mapping[str, SlurmRelease]:
    """Slurm versions by their `yy.mm`."""
    return _read("slurm", _Slurm).versions
