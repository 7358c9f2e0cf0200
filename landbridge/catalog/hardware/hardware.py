"""Accelerators and processors of EC2 instance types and on-prem nodes."""

from typing import Literal

from landbridge.catalog.files import Facts


class Accelerators(Facts):
    """Accelerators of one node. `type` is Slurm's gres type; `memory_mib` is per accelerator."""

    kind: Literal["gpu", "neuron"] = "gpu"
    count: int
    type: str
    memory_mib: int | None = None


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
