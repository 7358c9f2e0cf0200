"""Software beside NVIDIA's driver on on-prem GPU nodes: DCGM, container toolkit, RDMA, GPUDirect Storage."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Url

Version = Annotated[str, StringConstraints(pattern=r"^(\d+:)?\d+(\.\d+)+(-\d+)?$")]
Device = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,15}$")]


class Roce(Model):
    """RoCE port, the same on every node; the switches must have matching settings."""

    device: Device = Field(description="the adapter's name, such as mlx5_0")
    interface: Device = Field(description="its port's name as a network interface, such as enp1s0f0np0")
    port: int = Field(default=1, ge=1, le=2)
    traffic_class: int = Field(default=106, ge=0, le=255, description="DSCP times four, and two for ECN")
    pfc: tuple[Annotated[int, Field(ge=0, le=7)], ...] = Field(
        default=(3,), description="priorities that pause instead of dropping"
    )


class Rdma(Model):
    """InfiniBand and RoCE on GPU nodes."""

    stack: Literal["distribution", "doca", "none"] = Field(
        default="distribution",
        description="whose libraries and modules; doca: NVIDIA's DOCA-OFED, built on the nodes; none: left alone",
    )
    mirror: Url | None = Field(default=None, description="a copy of DOCA's repository; none: NVIDIA's own")
    gpu_memory: Literal["auto", "dma_buf", "peermem", "none"] = Field(
        default="auto",
        description="how GPUs' memory is on the network; auto: by DMA-BUF where kernel and modules have it",
    )
    roce: tuple[Roce, ...] = Field(default=(), description="ports of Ethernet that carry RDMA")


class GpuTools(Model):
    """DCGM, containers' devices and RDMA, on nodes whose driver is installed here (`driver.install`)."""

    dcgm: bool = Field(default=True, description="NVIDIA's GPU manager, which jobs' statistics and diagnostics need")
    dcgm_version: Version | None = Field(
        default=None, description="as apt has it, such as 1:4.5.1-1; none: the newest when a node is installed"
    )
    job_statistics: bool = Field(
        default=False, description="whether each job leaves what DCGM saw of its GPUs on its nodes"
    )
    container_toolkit: bool = Field(default=True, description="GPUs in containers, by device descriptions (CDI)")
    container_toolkit_version: Version | None = Field(
        default=None, description="as apt has it, such as 1.18.1-1; none: the newest when a node is installed"
    )
    container_toolkit_mirror: Url | None = Field(
        default=None, description="a copy of NVIDIA's repository with its key (gpgkey); none: NVIDIA's own"
    )
    rdma: Rdma = Rdma()
    gds: bool = Field(
        default=False,
        description="GPUDirect Storage, on nodes with open kernel modules; its module is loaded at the next start",
    )
