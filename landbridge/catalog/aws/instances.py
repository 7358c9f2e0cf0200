"""EC2 instance types: one file per family, read on first use."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any, Literal, Self

from pydantic import model_validator

from landbridge import hostlist
from landbridge.catalog import files
from landbridge.catalog.files import CatalogueError, Facts, Folder, Ids
from landbridge.catalog.hardware.hardware import Accelerators, Cpus

Purchase = Literal["on_demand", "spot", "capacity_block"]
Placement = Literal["cluster", "partition", "spread"]
#: grid: NVIDIA's driver of a virtual GPU, which a fraction of a GPU is.
Driver = Literal["open", "proprietary", "grid", "neuron"]
InterfaceType = Literal["interface", "efa", "efa-only"]

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\.[a-z0-9-]+")
_ROW = {"cards", "interfaces", "gbps", "types"}
#: Cards with EFA, if not all capable cards should have it, and cards with an IP address.
_CHOICES = ("efa_cards", "ip_cards")


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """Network card: number of interfaces, their types, and its peak bandwidth.

    `types` are the interface types that EC2 accepts on the card. `efa` and `ip`: whether the card should have EFA, and
    an IP address if bandwidth outside EFA matters; a card that shares hardware with another one may support more than
    it should have.
    """

    index: int
    interfaces: int
    gbps: float
    types: frozenset[InterfaceType]
    efa: bool
    ip: bool

    @property
    def efa_only(self) -> bool:
        """Return true if the card supports an EFA interface without an IP address."""
        return "efa-only" in self.types


class Ebs(Facts):
    """EBS throughput of the instance type. `baseline_*` is set if the peak is a burst of at least 30 min per day."""

    gbps: float
    iops: int
    baseline_gbps: float | None = None
    baseline_iops: int | None = None


class InstanceType(Facts):
    """EC2 instance type. None or an empty value: not known, unless a field's comment specifies otherwise."""

    name: str
    source: str
    date: date
    notes: str | None = None
    #: None: a type without accelerators.
    accelerators: Accelerators | None = None
    cpus: Cpus
    #: Threads per core that CpuOptions of a launch accept; empty: EC2 refuses CpuOptions, as for bare metal.
    valid_threads_per_core: tuple[int, ...] | None = None
    memory_mib: int
    #: All local disks together; 0: none.
    nvme_gb: int
    network_gbps: float
    network_baseline_gbps: float | None = None
    ebs: Ebs | None = None
    #: One for each card, by index.
    cards: tuple[NetworkCard, ...]
    nvlink_domain: int | None = None
    #: Network layers of DescribeInstanceTopology's response; None: it has no network nodes of the type.
    network_nodes: int | None = None
    purchase: tuple[Purchase, ...]
    placement: tuple[Placement, ...]
    #: Supported flavours of the accelerator's kernel modules, best first; empty: no accelerator.
    driver: tuple[Driver, ...]
    #: The UltraServer in which it is sold; None: it is sold alone.
    ultraserver: str | None = None
    #: Zones that offer it, by id.
    zones: Ids = ()
    #: Regions that offer it in zones not recorded.
    regions: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _cards(cls, row: Any) -> Any:
        if not isinstance(row, dict) or not isinstance(row.get("cards"), list):
            return row
        ip = _indices(str(row.get("ip_cards", "")))
        efa = _indices(str(row["efa_cards"])) if "efa_cards" in row else None
        cards = sorted(
            (card for card_row in row["cards"] for card in _cards(card_row, efa, ip)), key=lambda card: card.index
        )
        if [card.index for card in cards] != list(range(len(cards))):
            raise ValueError("cards must name every card from 0 once")
        efa_capable = frozenset(card.index for card in cards if card.types - {"interface"})
        if not (efa or frozenset()) <= efa_capable or not ip <= frozenset(
            card.index for card in cards if card.types - {"efa-only"}
        ):
            raise ValueError("efa_cards and ip_cards name cards that can carry EFA and an address")
        return {key: value for key, value in row.items() if key not in _CHOICES} | {"cards": tuple(cards)}

    @model_validator(mode="after")
    def _grid(self) -> Self:
        if self.accelerators is not None and (self.accelerators.fraction < 1) != ("grid" in self.driver):
            raise ValueError("a fraction of a GPU, and no other, has the driver grid")
        return self

    @property
    def family(self) -> str:
        """Return the family, such as `p5` of p5.48xlarge."""
        return self.name.partition(".")[0]

    @property
    def efa_cards(self) -> frozenset[int]:
        """Return the indices of the cards that should have EFA."""
        return frozenset(card.index for card in self.cards if card.efa)

    def zones_in(self, region_zones: tuple[str, ...]) -> tuple[str, ...]:
        """Return the zones of a region that are known to offer the type."""
        return tuple(zone for zone in region_zones if zone in self.zones)


class Instances(Mapping[str, InstanceType]):
    """Mapping of instance types by name. A lookup reads only the family's file; iteration reads all files."""

    def __init__(self, folder: Folder | None = None) -> None:
        self._folder = folder or files.package()
        self._read: dict[str, dict[str, InstanceType]] = {}
        self._families: frozenset[str] | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """Return the families that have a file, sorted."""
        if self._families is None:
            self._families = frozenset(files.names(self._folder, "instances"))
        return tuple(sorted(self._families))

    def family(self, name: str) -> Mapping[str, InstanceType]:
        """Return the types of one family; empty for an unknown family. Raises CatalogueError for an invalid file."""
        if name not in self._read:
            self._read[name] = _family(self._folder, name) if name in self.families else {}
        return self._read[name]

    def __getitem__(self, name: str) -> InstanceType:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise KeyError(name)
        return self.family(name.partition(".")[0])[name]

    def __iter__(self) -> Iterator[str]:
        return (name for family in self.families for name in self.family(family))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def instances() -> Instances:
    """Return the instance types of Landbridge's catalogue (cached)."""
    return Instances()


def _family(folder: Folder, family: str) -> dict[str, InstanceType]:
    file = f"instances/{family}"
    data = files.load(folder, file)
    if not isinstance(data, dict) or not isinstance(data.get("types"), dict):
        raise CatalogueError(f"{file}.yaml: needs source, date and types")
    unknown = set(data) - {"source", "date", "defaults", "types"}
    foreign_types = [name for name in data["types"] if not str(name).startswith(f"{family}.")]
    if unknown or foreign_types:
        raise CatalogueError(f"{file}.yaml: {', '.join(sorted(unknown) or foreign_types)} does not belong here")
    shared = {"source": data.get("source"), "date": data.get("date"), **(data.get("defaults") or {})}
    rows = {name: {**shared, **(row or {}), "name": name} for name, row in data["types"].items()}
    return {name: files.validate(file, InstanceType, row) for name, row in rows.items()}


def _cards(row: Any, efa: frozenset[int] | None, ip: frozenset[int]) -> Iterator[NetworkCard]:
    if not isinstance(row, dict) or set(row) != _ROW:
        raise ValueError(f"a row of cards has {', '.join(sorted(_ROW))}")
    types = frozenset(row["types"])
    if types - {"interface", "efa", "efa-only"} or int(row["interfaces"]) < 1:
        raise ValueError("a card must have at least one interface, of type interface, efa or efa-only")
    for index in sorted(_indices(str(row["cards"]))):
        has_efa = bool(types - {"interface"}) if efa is None else index in efa
        yield NetworkCard(index, int(row["interfaces"]), float(row["gbps"]), types, has_efa, index in ip)


def _indices(text: str) -> frozenset[int]:
    return frozenset(int(item) for item in hostlist.expand(f"[{text}]")) if text else frozenset()
