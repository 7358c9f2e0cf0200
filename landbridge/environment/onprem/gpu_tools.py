"""GPU software of on-prem nodes besides NVIDIA's driver: DCGM, container toolkit, RDMA, GPUDirect Storage."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Url

Version = Annotated[str, StringConstraints(pattern=r"^(\d+:)?\d+(\.\d+)+(-\d+)?$")]
Device = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,15}$")]


class Roce(Model):
    """RoCE port with the same name on every node; the switches must have matching settings."""

    device: Device = Field(description="name of the RDMA device, such as mlx5_0")
    interface: Device = Field(description="network interface of its port, such as enp1s0f0np0")
    port: int = Field(default=1, ge=1, le=2)
    traffic_class: int = Field(default=106, ge=0, le=255, description="DSCP × 4, plus 2 for ECN")
    pfc: tuple[Annotated[int, Field(ge=0, le=7)], ...] = Field(
        default=(3,), description="priorities with PFC: pause instead of packet loss"
    )


class Rdma(Model):
    """InfiniBand and RoCE on GPU nodes."""

    stack: Literal["distribution", "doca", "none"] = Field(
        default="distribution",
        description="source of libraries and modules; doca: NVIDIA's DOCA-OFED, built on the nodes; none: not managed",
    )
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] | None = Field(
        default=None, description="release of DOCA-OFED on every node, such as 3.2.1; none: that of the catalogue"
    )
    mirror: Url | None = Field(
        default=None, description="mirror of the folder of one release and system of DOCA; none: NVIDIA's own"
    )
    gpu_memory: Literal["auto", "dma_buf", "peermem", "none"] = Field(
        default="auto",
        description="GPUDirect RDMA: access to GPU memory; auto: DMA-BUF if kernel and modules support it",
    )
    roce: tuple[Roce, ...] = Field(default=(), description="Ethernet ports that carry RDMA (RoCE)")


class GpuTools(Model):
    """DCGM, container toolkit and RDMA, on nodes whose driver Landbridge installs (`driver.install`)."""

    dcgm: bool = Field(default=True, description="NVIDIA DCGM, required for job statistics and diagnostics")
    dcgm_version: Version | None = Field(
        default=None,
        description="package version as apt shows it, such as 1:4.5.1-1; none: the newest when a node is installed",
    )
    job_statistics: bool = Field(
        default=False, description="each job writes DCGM's statistics of its GPUs to a file on its nodes"
    )
    container_toolkit: bool = Field(default=True, description="NVIDIA Container Toolkit: GPUs in containers by CDI")
    container_toolkit_version: Version | None = Field(
        default=None,
        description="package version as apt shows it, such as 1.18.1-1; none: the newest when a node is installed",
    )
    container_toolkit_mirror: Url | None = Field(
        default=None, description="mirror of NVIDIA's repository with its key (gpgkey); none: NVIDIA's own"
    )
    rdma: Rdma = Rdma.with_defaults()
    gds: bool = Field(
        default=False,
        description="GPUDirect Storage, on nodes with open kernel modules; the module is loaded at the next boot",
    )
