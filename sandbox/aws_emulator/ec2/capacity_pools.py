"""Capacity pools: free instances per instance type and zone; moto itself has no capacity limit."""

from dataclasses import dataclass, field

UNLIMITED = 1_000_000_000


@dataclass
class CapacityPools:
    """Free instances by `type/zone`; `type/*` stands for every zone without an entry of its own, absent means unlimited.

    A zone may be written as its name (us-east-1a) or as its id (use1-az6). Not locked: callers hold the launch lock.
    """

    free: dict[str, int] = field(default_factory=dict)

    def key(self, instance_type: str, *zones: str) -> str | None:
        """The entry that limits this type in the zone known under all the names given; None when nothing does."""
        return next((key for zone in (*zones, "*") if (key := f"{instance_type}/{zone}") in self.free), None)

    def available(self, instance_type: str, *zones: str) -> int:
        key = self.key(instance_type, *zones)
        return UNLIMITED if key is None else max(0, self.free[key])

    def take(self, count: int, instance_type: str, *zones: str) -> str | None:
        """Take `count`, which must be available; returns the entry to give them back to."""
        key = self.key(instance_type, *zones)
        if key is not None:
            if count > self.free[key]:
                raise ValueError(f"{key} has {self.free[key]}, not {count}")
            self.free[key] -= count
        return key

    def give_back(self, key: str | None) -> None:
        if key in self.free:
            self.free[key] += 1
