"""GPU models by form factor (gpus.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from landbridge.catalog.files import Facts, read

Flavour = Literal["open", "proprietary"]


class Generation(Facts):
    """GPU architecture. `modules`: supported kernel module flavours, best first."""

    modules: tuple[Flavour, ...]
    why: str
    errors: Literal["page_retirement", "row_remapping"]


class Pcie(Facts):
    """PCIe link of a healthy GPU under load."""

    generation: int
    width: int


class NvLink(Facts):
    """NVLinks of one GPU; `gb_s` is the bandwidth of one link in one direction, in GB/s."""

    links: int
    gb_s: float

    @property
    def total_gb_s(self) -> float:
        """Return the bandwidth of all links in one direction, GB/s: the limit for one GPU."""
        return self.links * self.gb_s


class Gpu(Facts):
    """GPU model and form factor. `type`: Slurm's gres type; `name`: nvidia-smi's; `pci`: device ids of vendor 10de."""

    type: str
    name: str
    generation: str
    pci: tuple[str, ...]
    memory_mib: int
    pcie: Pcie | None = None
    nvlink: NvLink | None = None
    mig: bool = False


class _Gpus(Facts):
    source: str
    date: date
    flavours: Mapping[Flavour, str]
    generations: Mapping[str, Generation]
    gpus: Mapping[str, Gpu]


@cache
def _file() -> _Gpus:
    return read("gpus", _Gpus)


def gpus() -> Mapping[str, Gpu]:
    """Return the GPUs by model and form factor, such as `h100-sxm5`."""
    return _file().gpus


def generation(gpu: Gpu) -> Generation:
    """Return the GPU's architecture. Raises KeyError for a row without one."""
    return _file().generations[gpu.generation]
