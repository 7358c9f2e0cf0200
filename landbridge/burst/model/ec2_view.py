"""Observed EC2: the instances that cost money, at one time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
class InstanceEnd:
    """Reason why EC2 ended an instance: a code such as Client.VolumeLimitExceeded, and EC2's message."""

    code: str
    message: str = ""

    @property
    def text(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


@dataclass(frozen=True, slots=True)
class Ec2View:
    """View of EC2: all instances of the cluster's pools that are not terminated, and `ended`: by id, the ends of the
    expected instances that are terminated or shut down."""

    at: float
    instances: tuple[CloudInstance, ...]
    ended: Mapping[str, InstanceEnd] = field(default_factory=dict)
