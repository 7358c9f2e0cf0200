"""Unattached volumes and network interfaces of terminated nodes: they cost money and hold addresses of a subnet.

EC2 deletes both with the instance, except after an interrupted call or when AWS lost an instance. Only resources that a
launch of this cluster created are considered, by their tags: a volume with user data does not have the tags of a
launch. Bound: `orphan_seconds` and two checks, from the first check that saw it unattached; a restarted daemon counts
again. Placement groups belong to the stack and stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from landbridge.burst.model import BurstPolicy, DecisionRecord
from landbridge.burst.model.errors import AwsError

#: Seconds between two checks: unattached resources are rare, and cost little in an hour.
CHECK_INTERVAL_SECONDS = 300.0
UnattachedKind = Literal["volume", "network-interface"]


@dataclass(frozen=True, slots=True)
class UnattachedResource:
    """Volume or network interface without an instance. `launch`: the token of the launch that created it."""

    kind: UnattachedKind
    id: str
    pool: str
    launch: str


class UnattachedPort(Protocol):
    """Port to EC2's unattached resources; every method raises AwsError on failure."""

    def unattached(self) -> list[UnattachedResource]: ...

    def delete(self, resource: UnattachedResource) -> None: ...


@dataclass(slots=True)
class UnattachedCollector:
    """Collector of unattached resources with the time when each was first seen, in memory only."""

    checked_at: float = float("-inf")
    since: dict[str, float] = field(default_factory=dict)

    def due(self, now: float) -> bool:
        """Return whether the next check is due; also after the clock has gone back."""
        return not 0 <= now - self.checked_at < CHECK_INTERVAL_SECONDS

    def unattached_for(
        self, resources: Iterable[UnattachedResource], bound: float, now: float
    ) -> list[UnattachedResource]:
        """Return the resources that have had no instance for `bound` seconds or longer; remember since when for the others."""
        present = list(resources)
        self.since = {resource.id: min(now, self.since.get(resource.id, now)) for resource in present}
        return [resource for resource in present if now - self.since[resource.id] >= bound]

    def sweep(
        self, source: UnattachedPort, policy: BurstPolicy, now: float
    ) -> tuple[list[DecisionRecord], list[AwsError]]:
        """Delete the resources that are due; return records of the deleted ones, and the errors of EC2."""
        self.checked_at = now
        records: list[DecisionRecord] = []
        failures: list[AwsError] = []
        try:
            resources = source.unattached()
        except AwsError as error:
            return records, [error]
        for resource in self.unattached_for(resources, policy.orphan_seconds, now):
            try:
                source.delete(resource)
            except AwsError as error:
                failures.append(error)
                continue
            text = f"{resource.kind} {resource.id} had no instance for {now - self.since[resource.id]:.0f} s"
            details = {"kind": resource.kind, "id": resource.id, "launch": resource.launch}
            records.append(DecisionRecord(now, "sweep", (), (), resource.pool, "ORPHANED", text, None, details=details))
        return records, failures
