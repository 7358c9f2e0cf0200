"""Accelerators and processors, for EC2 instance types and on-prem machines alike."""

from typing import Literal

from landbridge.catalog.files import Facts


class Accelerators(Facts):
    """The accelerators of one machine. `type` is Slurm's word for them; `memory_mib` is of each one."""

    kind: Literal["gpu", "neuron"] = "gpu"
    count: int
    type: str
    memory_mib: int | None = None


class Cpus(Facts):
    """The processors of one machine; `cores` are all of them together."""

    sockets: int
    cores: int
    threads: int
    architecture: Literal["x86_64", "arm64"] = "x86_64"

    @property
    def cores_per_socket(self) -> int:
        """Cores of one socket."""
        return self.cores // self.sockets

    @property
    def logical(self) -> int:
        """Hardware threads: what EC2 calls vCPUs and Slurm CPUs."""
        return self.cores * self.threads
