"""Other regions of an environment, each as a separate environment, so that one region's plan functions work for all.

A pool's offerings in another region are tried after all offerings of the environment's own region. Nodes there differ
from nodes in the own region only in regional resources: file systems in AWS, images by id, placement groups, security
groups, subnets.
"""

from collections.abc import Mapping
from ipaddress import IPv4Network

from landbridge.environment import EfsHome, Environment, NfsHome, OpenZfsHome, PoolSettings, RegionPool
from landbridge.environment.storage import Storage


def in_region(environment: Environment, region: str) -> Environment:
    """Return the environment of one of its other regions: that VPC, and the pools that may start nodes there.

    Settings of the environment's own region are left out: services, file systems in AWS, the hub's copies, quotas, an
    existing VPC. Raises KeyError for a region that the environment does not have.
    """
    region_settings = environment.aws.other_regions[region]
    aws = environment.aws.model_copy(
        update={
            "cidr": region_settings.cidr,
            "secondary_cidrs": (),
            "vpc": None,
            "subnets": region_settings.subnets,
            "nat": region_settings.nat,
            "vpc_endpoints": "gateway",
            "pools": tuple(
                _pool(pool, region_settings.pools[pool.name]) for pool in _pools(environment, region_settings.pools)
            ),
            "other_regions": {},
            "services": None,
            "quotas": {},
        }
    )
    return environment.model_copy(
        update={
            "region": region,
            "aws": aws,
            "storage": at_home_only(environment.storage),
            "dns": None,
            "mlops": environment.mlops.model_copy(update={"sagemaker": None}),
        }
    )


def other_regions(environment: Environment) -> dict[str, Environment]:
    """Return the environments of the other regions by region name, in the file's order: pools try them in
    this order.
    """
    return {name: in_region(environment, name) for name in environment.aws.other_regions}


def aws_ranges(environment: Environment) -> tuple[IPv4Network, ...]:
    """Return all CIDR ranges of nodes in AWS, the ranges of the environment's own region first."""
    primary_cidr, *other_cidrs = vpc_ranges(environment)
    return (primary_cidr, *environment.aws.secondary_cidrs, *other_cidrs)


def vpc_ranges(environment: Environment) -> tuple[IPv4Network, ...]:
    """Return the primary CIDR of every VPC: the link's transit gateway has routes to these only."""
    return (environment.aws.cidr, *(region.cidr for region in environment.aws.other_regions.values()))


def at_home_only(storage: Storage) -> Storage:
    """Return storage without file systems in AWS: a file system and its clients are in one region."""
    in_aws = isinstance(storage.home, EfsHome | OpenZfsHome)
    home = NfsHome(kind="nfs", on_cloud_nodes=False) if in_aws else storage.home
    return storage.model_copy(update={"home": home, "cloud_scratch": None, "cloud_shares": {}})


def _pools(environment: Environment, region_pools: Mapping[str, RegionPool]) -> list[PoolSettings]:
    """Return the named pools in the file's order. A rule reports unknown names."""
    return [pool for pool in environment.aws.pools if pool.name in region_pools]


def _pool(pool: PoolSettings, region_pool: RegionPool) -> PoolSettings:
    # An AMI id is valid in one region only.
    has_image_id = pool.image is not None and pool.image.startswith("ami-")
    return pool.model_copy(
        update={
            "capacity": region_pool.capacity,
            "image": region_pool.image if region_pool.image is not None else (None if has_image_id else pool.image),
            "min_nodes": 0,
            "placement_group": None,
            "security_groups": (),
        }
    )
