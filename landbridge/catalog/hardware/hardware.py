"""Accelerators and processors of EC2 instance types and on-prem nodes."""

from typing import Literal, Self

from pydantic import model_validator

from landbridge.catalog.files import Facts

#: Suffix of the gres type of a fraction of a GPU: EC2's GpuPartitionSize of g6f and gr6f. Source: EC2 API Reference, GpuDeviceInfo.
FRACTIONS = {0.5: "_half", 0.25: "_quarter", 0.125: "_eighth"}


class Accelerators(Facts):
    """Accelerators of one node. `type` is Slurm's gres type; `memory_mib` is per accelerator. `fraction`: the share of a
    physical GPU that each of them is; a job must not get it for a whole one, so its gres type is another one."""

    kind: Literal["gpu", "neuron"] = "gpu"
    count: int
    type: str
    memory_mib: int | None = None
    fraction: float = 1.0

    @model_validator(mode="after")
    def _own_type(self) -> Self:
        suffix = FRACTIONS.get(self.fraction)
        if self.fraction != 1.0 and (suffix is None or not self.type.endswith(suffix)):
            known = ", ".join(f"{fraction:g}: {name}" for fraction, name in FRACTIONS.items())
            raise ValueError(f"the type of a fraction of a GPU ends with its suffix, such as l4_eighth ({known})")
        return self

    @property
    def model(self) -> str:
        """Return the gres type of the whole GPU."""
        return self.type.removesuffix(FRACTIONS.get(self.fraction, ""))


class Cpus(Facts):
    """Processors of one node; `cores` is the sum over all sockets, `pcie` the generation of their lanes if it is known."""

    sockets: int
    cores: int
    threads: int
    architecture: Literal["x86_64", "arm64"] = "x86_64"
    pcie: int | None = None

    @property
    def cores_per_socket(self) -> int:
        """Return the cores of one socket."""
        return self.cores // self.sockets

    @property
    def logical(self) -> int:
        """Return the hardware threads: vCPUs in EC2, CPUs in Slurm."""
        return self.cores * self.threads
