"""Limits of AWS: windows of Capacity Blocks, sizes, names, tags, quotas (limits.yaml)."""

import re
from collections.abc import Mapping
from datetime import date, time
from functools import cache
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from landbridge.catalog.files import Facts, read

Range = tuple[int, int]


def _clock(text: object) -> object:
    return time.fromisoformat(text) if isinstance(text, str) else text


class CapacityBlocks(Facts):
    """Capacity Blocks. Whole days up to `days`, whole multiples of `long_step_days` up to `long_days`; times are UTC.

    `regions`: regions that sell blocks of a type, by type; a type without an entry is not known.
    """

    source: str
    days: int
    long_days: int
    long_step_days: int
    weeks_ahead: int
    starts_within_minutes: int
    instances: int
    instances_all: int
    ends_at: Annotated[time, BeforeValidator(_clock)]
    reclaim_minutes: int
    reclaim_minutes_ultraserver: int
    notice_minutes: int
    tenancy: str
    cancellable: bool
    resource_groups: str
    counts_against_quotas: bool
    regions: Mapping[str, tuple[str, ...]]


class SpotLimits(Facts):
    """Spot instances. `notice_minutes`: time from the interruption notice to the interruption."""

    source: str
    notice_minutes: int


class UltraServer(Facts):
    """UltraServer: its instance type and the number of instances in it."""

    source: str
    instance: str
    instances: int


class Reservations(Facts):
    """On-demand capacity reservations: number of instances, and minimum vCPUs of a future-dated one."""

    source: str
    instances: Range
    future_least_vcpus: int


class PlacementGroups(Facts):
    """Placement groups: instances of a spread group and partitions of a partition group in one zone; groups in a region."""

    source: str
    spread_per_zone: int
    partitions_per_zone: int
    groups_per_region: int
    cluster_zones: int


class VolumeType(Facts):
    """EBS volume type: minimum and maximum of size, IOPS and throughput; the ratios are IOPS per GiB and MiB/s per
    IOPS.
    """

    gib: Range
    iops: Range | None = None
    throughput: Range | None = None
    iops_per_gib: int | None = None
    throughput_per_iops: float | None = None


class Volumes(Facts):
    """EBS volumes."""

    source: str
    types: Mapping[str, VolumeType]


class MetadataKeys(Facts):
    """Tag keys that the instance metadata service can show."""

    source: str
    pattern: str
    reserved: tuple[str, ...]


class Tags(Facts):
    """Tags of one resource."""

    source: str
    most: int
    key_characters: int
    value_characters: int
    reserved_prefix: str
    pattern: str
    metadata_keys: MetadataKeys


class NameRule(Facts):
    """Naming rule: minimum and maximum length, and the pattern of the whole name."""

    characters: Range
    pattern: str

    def allows(self, name: str) -> bool:
        """Return true if AWS accepts the name."""
        low, high = self.characters
        return low <= len(name) <= high and re.fullmatch(self.pattern, name) is not None


class Names(Facts):
    """Naming rules by resource, and the prefixes and suffixes of bucket names that S3 reserves."""

    source: str
    rules: Mapping[str, NameRule]
    reserved_bucket_prefixes: tuple[str, ...]
    reserved_bucket_suffixes: tuple[str, ...]


class LogRetention(Facts):
    """Days for which a log group may keep its events."""

    source: str
    days: tuple[int, ...]


class VpcLimits(Facts):
    """VPCs and subnets. `refused` ranges cannot be used; `used_elsewhere`: ranges used on hosts, with the program."""

    source: str
    prefixes: Range
    reserved_addresses: int
    ranges: int
    ranges_raised: int
    subnets: int
    route_tables: int
    routes: int
    routes_raised: int
    propagated_routes: int
    endpoint_mtu: int
    refused: tuple[IPv4Network, ...]
    used_elsewhere: Mapping[IPv4Network, str]


class SecurityGroups(Facts):
    """Maximum rules of one group in each direction; and rules × groups of one interface."""

    source: str
    rules: int
    rules_times_groups: int


class Interfaces(Facts):
    """Security groups on one interface: default and maximum after a quota increase; interfaces in a region."""

    source: str
    security_groups: int
    security_groups_raised: int
    per_region: int


class LaunchTemplateLimits(Facts):
    """Limits of a launch template; user data counts before Base64."""

    source: str
    user_data_bytes: int
    hop_limit: Range


class BootTimes(Facts):
    """Minutes from launch of an instance with accelerators until its registration in Slurm, minimum and maximum."""

    source: str
    minutes: Range


class Billing(Facts):
    """Billing of instances. `least_seconds`: minimum billed time; `least_spot_usd`: lowest permitted maximum price."""

    source: str
    least_seconds: int
    least_spot_usd: float


class SlurmLimits(Facts):
    """Limits of Slurm itself."""

    source: str
    nodes: int


class VpnLimits(Facts):
    """Site-to-Site VPN: bandwidth and settings of a tunnel. MTU and MSS are those of AES-GCM without NAT traversal."""

    source: str
    tunnel_gbps: float
    large_tunnel_gbps: float
    userspace_gbps: float
    mtu: int
    mss: int
    inside_range: IPv4Network
    inside_prefix: int
    inside_reserved: tuple[IPv4Network, ...]
    psk_characters: Range
    psk_pattern: str
    phase1_seconds: Range
    phase2_seconds: Range
    dpd_least_seconds: int
    asn_private: tuple[Range, ...]
    asn: Range
    asn_default: int
    routes_virtual_gateway: int
    routes_transit_gateway: int


class DirectConnectLimits(Facts):
    """Direct Connect: ports with MACsec, number of announced prefixes, and the prefix length of a VPN's range."""

    source: str
    macsec_ports: tuple[str, ...]
    allowed_prefixes: int
    private_range: int


class Quota(Facts):
    """Quota: its code, what it counts (`unit`), instance families, market, and AWS's default.

    `most` is the maximum to which AWS raises it; None if there is no such maximum.
    """

    name: str
    code: str
    service: str
    unit: str
    default: int
    most: int | None = None
    market: Literal["on_demand", "spot"] | None = None
    families: tuple[str, ...] = ()


class Quotas(Facts):
    """Quotas of pools and their network."""

    source: str
    rows: tuple[Quota, ...]


class AwsLimits(Facts):
    """Facts of limits.yaml."""

    source: str
    as_of: date = Field(alias="date")
    capacity_blocks: CapacityBlocks
    spot: SpotLimits
    ultraservers: Mapping[str, UltraServer]
    reservations: Reservations
    placement_groups: PlacementGroups
    volumes: Volumes
    tags: Tags
    names: Names
    log_retention: LogRetention
    vpc: VpcLimits
    security_groups: SecurityGroups
    interfaces: Interfaces
    launch_template: LaunchTemplateLimits
    boot: BootTimes
    billing: Billing
    slurm: SlurmLimits
    vpn: VpnLimits
    direct_connect: DirectConnectLimits
    quotas: Quotas

    @property
    def gp3(self) -> VolumeType:
        """Return the type of the nodes' root volumes."""
        return self.volumes.types["gp3"]


@cache
def limits() -> AwsLimits:
    """Return the limits of AWS (cached)."""
    return read("limits", AwsLimits)


def quota_of(family: str, market: Literal["on_demand", "spot"]) -> Quota | None:
    """Return the quota of a family's instances; None if it is not known (p6 as spot)."""
    rows = limits().quotas.rows
    return next((row for row in rows if row.market == market and family in row.families), None)
