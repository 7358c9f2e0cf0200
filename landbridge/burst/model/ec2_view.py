"""What EC2 shows: the instances that cost something, at one moment."""

from dataclasses import dataclass
from typing import Literal

Market = Literal["on-demand", "spot", "capacity-block"]


@dataclass(frozen=True, slots=True)
class CloudInstance:
    """An instance of this cluster's pools. `node` is empty where its tags give it no name."""

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
    region: str = ""  # where it is not the policy's own


@dataclass(frozen=True, slots=True)
class Ec2View:
    """Every instance that costs something, by its tags, at one moment."""

    at: float
    instances: tuple[CloudInstance, ...]
