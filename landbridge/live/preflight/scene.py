"""What every check sees: the environment, its plan, its lock, who is asking, and AWS to ask."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from landbridge.environment import AnyCapacity, Environment, ImageLock, PoolSettings
from landbridge.findings import DataPath, Finding, Severity
from landbridge.live.aws import AwsClient
from landbridge.plan.instances.capacity import Terms, terms


@dataclass(frozen=True, slots=True)
class Bought:
    """One capacity of one pool, decided, and where it stands in the file."""

    pool: PoolSettings
    pool_index: int
    index: int
    capacity: AnyCapacity
    terms: Terms

    def at(self, *keys: str | int) -> DataPath:
        """A path inside this capacity."""
        return ("aws", "pools", self.pool_index, "capacity", self.index, *keys)

    def pool_at(self, *keys: str | int) -> DataPath:
        """A path inside its pool."""
        return ("aws", "pools", self.pool_index, *keys)

    @property
    def words(self) -> str:
        """The capacity in a sentence."""
        return f"{self.pool.name}, {self.terms.kind.replace('_', ' ')} {self.terms.instance}"


@dataclass(frozen=True, slots=True)
class Scene:
    """One run. `account` is None where AWS would not say; `now` is the operator's clock."""

    environment: Environment
    lock: ImageLock | None
    aws: AwsClient
    account: str | None
    now: datetime

    def bought(self) -> Iterator[Bought]:
        """Every capacity of every pool, in the file's order."""
        for pool_index, pool in enumerate(self.environment.aws.pools):
            for index, capacity in enumerate(pool.capacity):
                yield Bought(pool, pool_index, index, capacity, terms(pool, capacity, self.environment.region))

    def mine(self) -> list[dict[str, Any]]:
        """The filter for what Landbridge has built for this environment already."""
        return [{"Name": "tag:landbridge:cluster", "Values": [self.environment.name]}]

    def is_mine(self, tags: Any) -> bool:
        """Whether tags in EC2's shape say that this environment built it."""
        return any(
            tag["Key"] == "landbridge:cluster" and tag.get("Value") == self.environment.name for tag in tags or ()
        )


def error(rule: str, message: str, path: DataPath = (), fix: str | None = None, **more: Any) -> Finding:
    """Something that fails for certain."""
    return Finding(rule, message, path, fix, **more)


def warning(rule: str, message: str, path: DataPath = (), fix: str | None = None) -> Finding:
    """Something that will hurt, or may fail."""
    return Finding(rule, message, path, fix, Severity.WARNING)


def info(rule: str, message: str, path: DataPath = (), fix: str | None = None) -> Finding:
    """Something worth knowing, or that could not be seen."""
    return Finding(rule, message, path, fix, Severity.INFO)
