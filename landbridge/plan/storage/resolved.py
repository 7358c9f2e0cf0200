"""Resolved settings and zones of a file system. The catalogue of sizes and throughputs is
landbridge/catalog/storage.yaml.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.catalog.aws.storage import LustreRow, Ports
from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import Efs, Environment, FsxLustre, FsxOpenZfs, OpenZfsHome
from landbridge.plan.zones import environment_zones, pool_zones, services_zones, storage_zone

Share = FsxLustre | FsxOpenZfs | Efs

#: MB/s for each TiB if the deployment has a choice: the minimum that keeps 8 GPUs of one node busy reading images.
DEFAULT_MBPS_PER_TIB = 250


@dataclass(frozen=True, slots=True)
class Resolved:
    """Resolved settings. `capacity_gib` is None for an elastic file system, `throughput` if the deployment has no
    choice.

    `throughput` is in MB/s: for each TiB with Lustre on disks, otherwise of the whole file system. `servers` is the
    number of addresses that it takes in its zone (in each zone for EFS).
    """

    capacity_gib: int | None
    throughput: int | None
    servers: int


def cloud_mounts(environment: Environment) -> tuple[str, ...]:
    """Return the file systems that cloud nodes mount, by their keys in the stack's outputs: the created ones, then the existing
    ones, both in the file's order.
    """
    storage = environment.storage
    created = storage.in_aws().items()
    created_names = (path[-1] for path, share in created if share is not storage.home or storage.home.on_cloud_nodes)
    return (*created_names, *(path[-1] for path in storage.existing()))


def resolve(share: Share) -> Resolved:
    """Fill in omitted settings. Invalid values stay: `storage_violations` reports them."""
    if isinstance(share, FsxLustre):
        return _lustre(share)
    if isinstance(share, FsxOpenZfs):
        row = facts().fsx_openzfs.deployments.get(share.deployment)
        rate = share.throughput or (row.throughput[0] if row is not None else None)
        return Resolved(share.capacity_gib, rate, 1 + bool(row is not None and row.standby))
    return Resolved(None, share.provisioned_mibps, facts().efs.mount_targets_per_zone)


def capacity(share: Share) -> int | None:
    """Return the size in GiB; None for an elastic file system."""
    return resolve(share).capacity_gib


def throughput(share: Share) -> int | None:
    """Return the throughput in the unit of `Resolved.throughput`; None if the deployment has no choice."""
    return resolve(share).throughput


def ports(share: Share) -> tuple[Ports, ...]:
    """Return the ports of the security groups of servers and clients, in both directions."""
    storage_facts = facts()
    match share.kind:
        case "fsx_lustre":
            return storage_facts.fsx_lustre.ports
        case "fsx_openzfs":
            return storage_facts.fsx_openzfs.ports
        case "efs":
            return storage_facts.efs.ports


def zone(environment: Environment, share: Share) -> str | None:
    """Return the zone of a file system; None if it is in every zone, or without a known zone."""
    services = environment.aws.services
    # Homes are in the zone of the login hosts: latency matters to users, and a new pool must not move the homes.
    services_zone = services.zone if services is not None and isinstance(share, OpenZfsHome) else None
    return None if share.kind == "efs" else storage_zone(environment, share.zone or services_zone)


def zones(environment: Environment, share: Share) -> tuple[str, ...]:
    """Return the zones of a file system's addresses: the active server's zone, then the standby's zone if
    it has one.
    """
    if share.kind == "efs":
        services_zone = services_zones(environment)[:1]
        return share.zones or tuple(sorted({*environment_zones(environment), *services_zone}))
    share_zone = zone(environment, share)
    if share_zone is None:
        return ()
    return (share_zone, *(other for other in environment_zones(environment) if other != share_zone))[
        : zones_needed(share)
    ]


def zones_needed(share: Share) -> int:
    """Return the minimum number of zones of a file system."""
    row = facts().fsx_openzfs.deployments.get(share.deployment) if isinstance(share, FsxOpenZfs) else None
    return row.zones if row is not None else 1


def pools_elsewhere(environment: Environment, share: Share) -> Mapping[str, tuple[str, ...]]:
    """Return the pools with their zones outside the file system's zones: traffic between zones is slow and billed."""
    return pools_outside(environment, zones(environment, share))


def pools_outside(environment: Environment, share_zones: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the pools with their zones outside `share_zones`; empty without such zones."""
    if not share_zones:
        return {}
    apart = {
        pool.name: tuple(zone for zone in pool_zones(pool, environment.region) if zone not in share_zones)
        for pool in environment.aws.pools
    }
    return {name: pool_zone_names for name, pool_zone_names in apart.items() if pool_zone_names}


def addresses(environment: Environment) -> Mapping[str, int]:
    """Return the minimum number of file system addresses in each zone's subnet."""
    by_zone: dict[str, int] = {}
    for share in environment.storage.in_aws().values():
        for share_zone in zones(environment, share):
            by_zone[share_zone] = by_zone.get(share_zone, 0) + resolve(share).servers
    return by_zone


def lustre_rows(share: FsxLustre) -> tuple[LustreRow, ...]:
    """Return the catalogue rows of a deployment and storage type; with a throughput, those that have it."""
    rows = facts().fsx_lustre.rows(share.deployment, share.storage_type)
    matching_rows = tuple(row for row in rows if share.throughput in row.throughput)
    return matching_rows or rows


def _lustre(share: FsxLustre) -> Resolved:
    lustre = facts().fsx_lustre
    if share.storage_type == "intelligent_tiering":
        elastic = lustre.intelligent_tiering
        rate = share.throughput or elastic.throughput_step
        size = share.capacity_gib if "capacity_gib" in share.model_fields_set else None
        return Resolved(size, rate, 1 + -(-rate // elastic.throughput_step))
    rows = lustre_rows(share)
    choices = sorted(rate for row in rows for rate in row.throughput)
    default_rate = max((rate for rate in choices if rate <= DEFAULT_MBPS_PER_TIB), default=None)
    rate_or_none = share.throughput or default_rate
    server_gib = next((row.server_gib for row in rows if rate_or_none in row.throughput or not row.throughput), None)
    # The storage servers and one metadata server.
    servers = -(-share.capacity_gib // server_gib) if share.capacity_gib is not None and server_gib is not None else 1
    return Resolved(share.capacity_gib, rate_or_none, 1 + servers)
