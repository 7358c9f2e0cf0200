"""Environment key `hardware.adapters`: network ports of a node group, as the site has wired them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model
from landbridge.environment.onprem.gpu_tools import Device

Interface = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,14}$")]


class NetworkPorts(Model):
    """Equal network ports of each node. The health checks, the role rdma and the acceptance thresholds follow from them."""

    use: Literal["fabric", "storage", "management"] = Field(description="fabric: traffic between the GPUs of two nodes")
    kind: Literal["infiniband", "ethernet"]
    gbps: int = Field(ge=1, le=1600, description="expected rate of one port in Gb/s")
    count: int | None = Field(default=None, ge=1, le=64, description="number of ports; none: that of devices")
    devices: tuple[Device, ...] = Field(
        default=(),
        description="RDMA devices of the ports, such as mlx5_0; empty: any port of the kind counts, which can hide a "
        "failed port behind another one",
    )
    bond: Interface | None = Field(
        default=None, description="bond interface of the ports, such as bond0; it is checked instead of the devices"
    )
