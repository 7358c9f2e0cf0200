"""Volumes and network interfaces of nodes that outlived their instance: they cost, and hold addresses of a subnet.

EC2 deletes both with the instance, but for a call that was cut off half-way or an instance that AWS lost. Only what a launch of
this cluster made is looked at, by its tags: a volume that holds anything to be kept has none of a launch. Bound:
`orphan_seconds` and two looks, from the first look that saw it unattached; a restarted daemon counts anew.
Placement groups are the stack's, and stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from landbridge.burst.model import BurstPolicy, DecisionRecord
from landbridge.burst.model.errors import AwsError

#: Seconds between two looks: what is looked for is rare, and cheap by the hour.
CHECK_INTERVAL_SECONDS = 300.0
UnattachedKind = Literal["volume", "network-interface"]


@dataclass(frozen=True, slots=True)
class UnattachedResource:
    """Volume or network interface without an instance. `launch`: the token of the launch that made it."""

    kind: UnattachedKind
    id: str
    pool: str
    launch: str


class UnattachedPort(Protocol):
    """EC2; every method raises AwsError when it could not do it."""

    def unattached(self) -> list[UnattachedResource]: ...

    def delete(self, resource: UnattachedResource) -> None: ...


@dataclass(slots=True)
class UnattachedCollector:
    """Unattached resources and the time when each was first seen; in memory alone."""

    looked: float = float("-inf")
    since: dict[str, float] = field(default_factory=dict)

    def due(self, now: float) -> bool:
        """Return whether the next check is due; also after the clock has gone back."""
        return not 0 <= now - self.looked < CHECK_INTERVAL_SECONDS

    def ripe(self, resources: Iterable[UnattachedResource], bound: float, now: float) -> list[UnattachedResource]:
        """Return the resources without an instance for at least `bound` seconds; the others are remembered."""
        present = list(resources)
        self.since = {resource.id: min(now, self.since.get(resource.id, now)) for resource in present}
        return [resource for resource in present if now - self.since[resource.id] >= bound]

    def sweep(
        self, source: UnattachedPort, policy: BurstPolicy, now: float
    ) -> tuple[list[DecisionRecord], list[AwsError]]:
        """Look, and delete what is ripe: what was deleted, and what EC2 refused."""
        self.looked = now
        records: list[DecisionRecord] = []
        failures: list[AwsError] = []
        try:
            resources = source.unattached()
        except AwsError as error:
            return records, [error]
        for resource in self.ripe(resources, policy.orphan_seconds, now):
            try:
                source.delete(resource)
            except AwsError as error:
                failures.append(error)
                continue
            text = f"{resource.kind} {resource.id} had no instance for {now - self.since[resource.id]:.0f} s"
            details = {"kind": resource.kind, "id": resource.id, "launch": resource.launch}
            records.append(DecisionRecord(now, "sweep", (), (), resource.pool, "ORPHANED", text, None, details=details))
        return records, failures
