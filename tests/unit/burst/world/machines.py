"""Instances of the simulated EC2, with their scheduled events."""

from dataclasses import dataclass, field
from math import inf

from landbridge.burst.model import InstanceEnd, Offering


@dataclass(frozen=True)
class Announcement:
    """Scheduled event that EC2 has announced, until `until` (true time): then it was replaced or had happened."""

    event: str
    at: float
    until: float = inf


@dataclass
class Machine:
    """An instance. `boots`: time at which its slurmd starts; `died`: its operating system stopped without a termination
    by EC2."""

    id: str
    node: str
    token: str
    offering: Offering
    pool: str
    jobs: tuple[int, ...]
    account: str
    lease: float
    address: str
    launched: float
    boots: float
    usd_hour: float
    died: bool = False
    is_cut: bool = False  # the link to the site is down: it runs, and slurmctld does not hear it
    protected: bool = False  # against termination by the API
    impaired: bool = False  # a status check of EC2 fails
    event: str = ""  # code of a scheduled event
    event_at: float = 0.0  # true time at which it happens
    is_event_read: bool = False  # whether the controller has read it
    earlier: list[Announcement] = field(default_factory=list)  # events that it has read, and are not announced any more
    read: float = 0.0  # true time at which it last read the statuses
    was_refused: bool = False  # EC2 has refused to terminate it
    freed: float | None = None  # time when the protection was removed
    end: InstanceEnd | None = None  # EC2 has accepted its launch, and ends it at `ends_at`
    ends_at: float = inf
    hidden: float = 0.0  # true time until which EC2 does not show it
    ended: float | None = None
    why: str = ""

    @property
    def alive(self) -> bool:
        """Return whether the instance runs and costs money."""
        return self.ended is None

    @property
    def answers(self) -> bool:
        return self.ended is None and not self.died and not self.is_cut

    @property
    def place(self) -> tuple[str, str]:
        """Return the zone and the instance type."""
        return self.offering.zone, self.offering.instance_type

    def cost(self, true: float) -> float:
        """Return the cost in USD until the time `true`."""
        return max(0.0, min(true, self.ended or true) - self.launched) / 3600 * self.usd_hour

    def announce(self, event: str, at: float, now: float) -> None:
        """Replace the announced event; an empty `event` is none."""
        self.earlier += [Announcement(announced.event, announced.at, now) for announced in self.announced_and_read()]
        self.event, self.event_at, self.is_event_read = event, at, False

    def announced_and_read(self) -> list[Announcement]:
        """Return the announced event if the controller has read it."""
        return [Announcement(self.event, self.event_at)] if self.event and self.is_event_read else []

    def is_block_end(self, event_at: float | None) -> bool:
        """Return whether an event is the end of the instance's Capacity Block, for which the controller does nothing."""
        closes = self.offering.closes
        return closes is not None and event_at is not None and event_at >= closes
