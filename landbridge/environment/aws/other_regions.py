"""More regions of AWS: where a pool's nodes may start when nothing of its own region is to be had."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from landbridge.environment.aws.capacity import Capacity
from landbridge.environment.aws.pool import ImageId
from landbridge.environment.base import Asn, Model, Word, Zone


class RegionPool(Model):
    """Capacity of one of aws.pools in another region. Its nodes are the pool's own: the same names, sizes and disks."""

    capacity: Annotated[tuple[Capacity, ...], Field(min_length=1)] = Field(
        description="tried in this order, after everything at home"
    )
    image: ImageId | None = Field(
        default=None, description="none: the pool's, by its name there; an ami-… is of one region alone"
    )


class OtherRegion(Model):
    """A VPC in another region, reached through the environment's link by way of its own region."""

    cidr: IPv4Network
    subnets: Mapping[Zone, IPv4Network] = Field(
        default={}, description="of the nodes, by zone; none named: an eighth of cidr for each zone"
    )
    nat: Literal["single", "per_zone"] = Field(
        default="single", description="the way to buckets, keys and secrets, which are in the environment's own region"
    )
    asn: Asn = Field(default=64_513, description="of the transit gateway there; no session is held with it")
    pools: Annotated[Mapping[Word, RegionPool], Field(min_length=1)]
