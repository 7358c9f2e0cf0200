"""Pools, capacities and file systems of an environment, each with its path. This module has no rules."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from landbridge.catalog import InstanceType, instances
from landbridge.environment import (
    AnyCapacity,
    CapacityBlock,
    Efs,
    Environment,
    ExistingShare,
    FsxLustre,
    FsxOpenZfs,
    PoolSettings,
    Reservation,
    capacity_zones,
)
from landbridge.environment.cached import cached
from landbridge.findings import DataPath, PathPart, did_you_mean

POOLS: DataPath = ("aws", "pools")
REGION: DataPath = ("region",)
#: Paths of the pools' zones and sizes: findings about these depend on them.
POOL_ZONES: tuple[DataPath, ...] = tuple((*POOLS, "*", key) for key in ("capacity", "instance"))
POOL_SIZES: tuple[DataPath, ...] = (*POOL_ZONES, (*POOLS, "*", "max_nodes"))
#: Paths of file systems in AWS.
SHARES: tuple[DataPath, ...] = (("storage", "home"), ("storage", "cloud_scratch"), ("storage", "cloud_shares"))


@dataclass(frozen=True, slots=True)
class PoolAt:
    """Pool and its path. `type` is None if its instance type is not in the catalogue."""

    pool: PoolSettings
    path: DataPath
    type: InstanceType | None

    def at(self, *keys: PathPart) -> DataPath:
        """Return the path of one of its keys."""
        return (*self.path, *keys)


@dataclass(frozen=True, slots=True)
class CapacityAt:
    """Capacity of a pool. `instance` is its own type or the pool's; `type` is None if it is not in the catalogue."""

    owner: PoolAt
    capacity: AnyCapacity
    number: int
    instance: str
    type: InstanceType | None

    @property
    def pool(self) -> PoolSettings:
        """Return the pool of the capacity."""
        return self.owner.pool

    @property
    def path(self) -> DataPath:
        """Return the path of the capacity."""
        return self.owner.at("capacity", self.number)

    def at(self, *keys: PathPart) -> DataPath:
        """Return the path of one of its keys."""
        return (*self.path, *keys)

    @property
    def instance_path(self) -> DataPath:
        """Return the path of its instance type."""
        return self.at("instance") if self.capacity.instance is not None else self.owner.at("instance")

    def zone_path(self, zone: str) -> DataPath:
        """Return the path of one of its zones."""
        if isinstance(self.capacity, (Reservation, CapacityBlock)):
            return self.at("zone")
        return self.at("zones", capacity_zones(self.capacity).index(zone))


@cached
def pools(environment: Environment) -> tuple[PoolAt, ...]:
    """Return all pools in the order of the file (cached)."""
    instance_types = instances()
    return tuple(
        PoolAt(pool, (*POOLS, index), instance_types.get(pool.instance))
        for index, pool in enumerate(environment.aws.pools)
    )


@cached
def capacities(environment: Environment) -> tuple[CapacityAt, ...]:
    """Return all capacities of all pools in the order of the file (cached)."""
    return tuple(capacity for owner in pools(environment) for capacity in pool_capacities(owner))


def pool_capacities(owner: PoolAt) -> Iterator[CapacityAt]:
    """Yield the capacities of a pool, in the order in which launches try them."""
    for number, capacity in enumerate(owner.pool.capacity):
        instance = capacity.instance or owner.pool.instance
        kind = owner.type if capacity.instance is None else instances().get(instance)
        yield CapacityAt(owner, capacity, number, instance, kind)


def node_policies(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    """Yield the path and ARN of each managed policy of nodes: of all nodes, then of each pool's."""
    for index, arn in enumerate(environment.aws.iam.node_policies):
        yield ("aws", "iam", "node_policies", index), arn
    for at in pools(environment):
        yield from ((at.at("node_policies", index), arn) for index, arn in enumerate(at.pool.node_policies))


def cloud_file_systems(environment: Environment) -> Iterator[tuple[DataPath, FsxLustre | FsxOpenZfs | Efs]]:
    """Return the path and settings of every file system in AWS that Landbridge creates."""
    return ((("storage", *path), share) for path, share in environment.storage.in_aws().items())


def existing_file_systems(environment: Environment) -> Iterator[tuple[DataPath, ExistingShare]]:
    """Return the path and settings of every existing file system in AWS."""
    return ((("storage", *path), share) for path, share in environment.storage.existing().items())


def usd(amount: float) -> str:
    """Return an amount as text, with cents below 1,000 USD."""
    return f"{amount:,.2f} USD" if amount < 1000 else f"{amount:,.0f} USD"


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the fix for an unknown word."""
    names = sorted(known)
    near = did_you_mean(word, names)
    return f'did you mean "{near}"?' if near else f"known: {', '.join(names) or 'none'}"
