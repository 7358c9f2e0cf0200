"""Capacity pools: free instances per instance type and zone; moto itself has no capacity limit."""

from dataclasses import dataclass, field

UNLIMITED = 1_000_000_000


@dataclass
class CapacityPools:
    """Free instances by `type/zone`; `type/*` is for every zone without an entry; a missing entry means unlimited.

    A zone is its name (us-east-1a) or its id (use1-az6). Not locked: callers hold the launch lock.
    """

    free: dict[str, int] = field(default_factory=dict)

    def key(self, instance_type: str, *zones: str) -> str | None:
        """Return the entry that limits this type in a zone, given by its names; None if it is unlimited."""
        return next((key for zone in (*zones, "*") if (key := f"{instance_type}/{zone}") in self.free), None)

    def available(self, instance_type: str, *zones: str) -> int:
        key = self.key(instance_type, *zones)
        return UNLIMITED if key is None else max(0, self.free[key])

    def take(self, count: int, instance_type: str, *zones: str) -> str | None:
        """Take `count` instances, which must be available; return the entry for `give_back`."""
        key = self.key(instance_type, *zones)
        if key is not None:
            if count > self.free[key]:
                raise ValueError(f"{key} has {self.free[key]}, not {count}")
            self.free[key] -= count
        return key

    def give_back(self, key: str | None) -> None:
        if key in self.free:
            self.free[key] += 1
