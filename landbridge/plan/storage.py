"""Shared file systems in AWS: what is made of what the file says, and what AWS would refuse."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.environment import Efs, Environment, FsxLustre, FsxOpenZfs
from landbridge.plan.zones import environment_zones, storage_zone

Share = FsxLustre | FsxOpenZfs | Efs


@dataclass(frozen=True, slots=True)
class StorageFault:
    """What AWS would refuse: the key of the share it is about, what is wrong, and what would be right."""

    key: str
    message: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class PortRule:
    """Ports that clients and servers must be able to reach."""

    protocol: str
    first: int
    last: int


def faults(share: Share, region: str | None = None) -> tuple[StorageFault, ...]:
    """Everything that AWS would refuse about one file system; with a region, what is not there too."""
    return ()


def ports(share: Share) -> tuple[PortRule, ...]:
    """What the security groups of servers and clients must let through, both ways."""
    return ()


def zone(environment: Environment, share: Share) -> str | None:
    """The one zone a file system is in; None for one that is in every zone, or where no zone is known."""
    return None if share.kind == "efs" else storage_zone(environment, share.zone)


def addresses(environment: Environment) -> Mapping[str, int]:
    """How many addresses file systems take in each zone's subnet, at least."""
    taken: dict[str, int] = {}
    for share in environment.storage.in_aws().values():
        if share.kind == "efs":
            places = share.zones or environment_zones(environment)
        else:
            found = zone(environment, share)
            places = (found,) if found is not None else ()
        for place in places:
            taken[place] = taken.get(place, 0) + 1
    return taken
