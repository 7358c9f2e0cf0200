"""On-prem platforms (platforms/*.yaml, one file per chassis type)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, Literal

from pydantic import model_validator

from landbridge.catalog.files import Facts, names, package, read
from landbridge.catalog.hardware.gpus import Gpu, gpus
from landbridge.catalog.hardware.hardware import Accelerators, Cpus


class NvSwitch(Facts):
    """NVSwitches between a node's GPUs; `pci`: their device id of vendor 10de, if they are devices of the host."""

    generation: int
    count: int
    pci: str | None = None


class Adapters(Facts):
    """Equal network adapters; `count` is the number of ports, `gbps` is per port."""

    count: int
    gbps: int
    kind: Literal["infiniband", "ethernet"]
    use: Literal["fabric", "storage", "management"]
    bonded: bool = False


class Wiring(Facts):
    """Usual use of a platform's ports in a reference architecture."""

    source: str
    adapters: tuple[Adapters, ...]


class Disks(Facts):
    """Equal NVMe disks; `gb` is per disk."""

    count: int
    gb: int
    use: Literal["system", "scratch"]


class Domain(Facts):
    """NVLink domain of several nodes."""

    nodes: int
    gpus: int


class Platform(Facts):
    """On-prem node model. Empty or None: not known, or absent."""

    source: str
    date: date
    gpus: Accelerators
    #: The key of its GPUs in gpus.yaml.
    gpu_model: str
    cpus: Cpus
    memory_mib: int
    numa_nodes: int | None = None
    nvswitch: NvSwitch | None = None
    #: Ports of the data sheet; those that a site uses are in landbridge/plan/site/adapters.py.
    adapters: tuple[Adapters, ...] = ()
    wirings: Mapping[str, Wiring] = {}
    nvme: tuple[Disks, ...] = ()
    #: Number of GPUs on each socket, in the order of their device files.
    gpus_by_socket: tuple[int, ...] = ()
    domain: Domain | None = None
    #: Minutes until the host answers after a restart, firmware work included; None: the value of node_restarts.yaml.
    restart_minutes: int | None = None
    power_kw: float | None
    price_usd: float | None

    @model_validator(mode="before")
    @classmethod
    def _composed(cls, row: Any) -> Any:
        """Replace the GPU model of a row by count, type and memory of its accelerators."""
        gpus_of_row = row.get("gpus") if isinstance(row, dict) else None
        if not isinstance(gpus_of_row, dict) or "model" not in gpus_of_row:
            return row
        if gpus_of_row["model"] not in gpus():
            raise ValueError(f"gpus.yaml has no {gpus_of_row['model']}")
        gpu = gpus()[gpus_of_row["model"]]
        composed = {"count": gpus_of_row["count"], "type": gpu.type, "memory_mib": gpu.memory_mib}
        return {**row, "gpus": composed, "gpu_model": gpus_of_row["model"]}

    @property
    def gpu(self) -> Gpu:
        """Return the GPU model."""
        return gpus()[self.gpu_model]

    @property
    def fabric_manager(self) -> bool:
        """Return true if nvidia-fabricmanager must run: the host's driver has access to NVSwitches.

        Source: NVIDIA Fabric Manager user guide, 2.1 (systems with NVSwitches); without it CUDA fails with error 802.
        """
        return self.nvswitch is not None and self.nvswitch.count > 0

    @property
    def subnet_manager(self) -> bool:
        """Return true if the NVLink subnet manager (nvlsm) must run too: NVSwitch generation 4 (NVLink 5) or later.

        Source: NVIDIA Fabric Manager user guide, 1.5.
        """
        return self.nvswitch is not None and self.nvswitch.generation >= 4 and self.nvswitch.count > 0

    @property
    def imex(self) -> bool:
        """Return true if nvidia-imex must run: an NVLink domain of several nodes (NVIDIA IMEX guide)."""
        return self.domain is not None


class _Platforms(Facts):
    source: str
    date: date
    platforms: Mapping[str, dict[str, Any]]


@cache
def platforms() -> Mapping[str, Platform]:
    """Return the on-prem platforms by name (cached)."""
    by_name: dict[str, Platform] = {}
    for name in sorted(names(package(), "platforms")):
        file = read(f"platforms/{name}", _Platforms)
        for key, row in file.platforms.items():
            # `like` refers to another row of the file, whose fields are the defaults.
            merged = {**file.platforms[row["like"]], **row} if "like" in row else row
            fields = {field: value for field, value in merged.items() if field != "like"}
            by_name[key] = Platform.model_validate({"source": file.source, "date": file.date, **fields})
    return by_name
