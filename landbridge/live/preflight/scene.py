"""Input of every preflight check: the environment, its plan, its lock, the account, and an AWS client."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from landbridge.aws_api.client import AwsClient
from landbridge.environment import AnyCapacity, Environment, ImageLock, PoolSettings
from landbridge.findings import DataPath, Finding, Severity
from landbridge.plan.instances.capacity import Terms, terms


@dataclass(frozen=True, slots=True)
class Bought:
    """One capacity of one pool from the plan, with its path in the file."""

    pool: PoolSettings
    pool_index: int
    index: int
    capacity: AnyCapacity
    terms: Terms

    def at(self, *keys: str | int) -> DataPath:
        """Return a path inside this capacity."""
        return ("aws", "pools", self.pool_index, "capacity", self.index, *keys)

    def pool_at(self, *keys: str | int) -> DataPath:
        """Return a path inside its pool."""
        return ("aws", "pools", self.pool_index, *keys)

    @property
    def words(self) -> str:
        """Return the capacity in words, for a message."""
        return f"{self.pool.name}, {self.terms.kind.replace('_', ' ')} {self.terms.instance}"


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of one run. `account` is None if it is not known; `now` is the time of the operator's clock."""

    environment: Environment
    lock: ImageLock | None
    aws: AwsClient
    account: str | None
    now: datetime

    def bought(self) -> Iterator[Bought]:
        """Yield all capacities of all pools in the order of the file."""
        for pool_index, pool in enumerate(self.environment.aws.pools):
            for index, capacity in enumerate(pool.capacity):
                yield Bought(pool, pool_index, index, capacity, terms(pool, capacity, self.environment.region))

    def mine(self) -> list[dict[str, Any]]:
        """Return the EC2 filter for resources with this environment's cluster tag."""
        return [{"Name": "tag:landbridge:cluster", "Values": [self.environment.name]}]

    def is_mine(self, tags: Any) -> bool:
        """Return true if tags in EC2's form contain this environment's cluster tag."""
        return any(
            tag["Key"] == "landbridge:cluster" and tag.get("Value") == self.environment.name for tag in tags or ()
        )


def error(rule: str, message: str, path: DataPath = (), fix: str | None = None, **more: Any) -> Finding:
    """Return an error: something is certain to fail."""
    return Finding(rule, message, path, fix, **more)


def warning(rule: str, message: str, path: DataPath = (), fix: str | None = None) -> Finding:
    """Return a warning: something is likely to fail, or a setting is harmful."""
    return Finding(rule, message, path, fix, Severity.WARNING)


def info(rule: str, message: str, path: DataPath = (), fix: str | None = None) -> Finding:
    """Return a finding for information, or for a query that was not possible."""
    return Finding(rule, message, path, fix, Severity.INFO)
