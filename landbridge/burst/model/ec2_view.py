"""Observed EC2: the instances that cost money, at one time."""

from dataclasses import dataclass
from typing import Literal

Market = Literal["on-demand", "spot", "capacity-block"]


@dataclass(frozen=True, slots=True)
class CloudInstance:
    """EC2 instance of this cluster's pools. `node` is empty if its tags contain no node name."""

    id: str
    node: str
    state: str  # pending, running, stopping, stopped, shutting-down
    address: str
    subnet: str
    type: str
    market: Market
    launched: float
    pool: str = ""
    token: str = ""  # tag landbridge:launch: the ClientToken it was launched with
    jobs: tuple[int, ...] = ()
    account: str = ""
    lease: float | None = None  # tag landbridge:lease-expires
    region: str = ""  # empty: the policy's own


@dataclass(frozen=True, slots=True)
class Ec2View:
    """View of EC2: all instances of the cluster's pools that are not terminated."""

    at: float
    instances: tuple[CloudInstance, ...]
