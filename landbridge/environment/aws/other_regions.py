"""Environment key `aws.other_regions`: regions for a pool's nodes when its own region has no capacity."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from landbridge.environment.aws.capacity import Capacity
from landbridge.environment.aws.pool import ImageId
from landbridge.environment.base import Asn, Model, Word, Zone


class RegionPool(Model):
    """Capacity of a pool in another region. Its nodes keep the pool's names, sizes and volumes."""

    capacity: Annotated[tuple[Capacity, ...], Field(min_length=1)] = Field(
        description="tried in this order, after all capacity of the environment's own region"
    )
    image: ImageId | None = Field(
        default=None,
        description="none: the pool's image name, resolved in that region; an ami-… exists in one region only",
    )


class OtherRegion(Model):
    """VPC in another region, connected to the environment's own region by a region link."""

    cidr: IPv4Network
    subnets: Mapping[Zone, IPv4Network] = Field(
        default={}, description="CIDR block of the nodes' subnet, by zone; empty: an eighth of cidr for each zone"
    )
    nat: Literal["single", "per_zone"] = Field(
        default="single",
        description="NAT gateways, for access to buckets, keys and secrets in the environment's own region",
    )
    asn: Asn = Field(default=64_513, description="ASN of the transit gateway in that region; no BGP session uses it")
    pools: Annotated[Mapping[Word, RegionPool], Field(min_length=1)]
