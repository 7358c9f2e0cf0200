"""Rules about regions and availability zones."""

from collections.abc import Iterator

from landbridge.catalog import instances, offered, regions, zones
from landbridge.environment import Efs, Environment, ExistingEfs, ReservationGroup, capacity_zones
from landbridge.findings import DataPath, Finding, Severity, error, info, warning
from landbridge.rules.environment_paths import (
    REGION,
    capacities,
    cloud_file_systems,
    existing_file_systems,
    pools,
    suggestion,
)
from landbridge.rules.registry import rule


@rule
def unknown_region(environment: Environment) -> Iterator[Finding]:
    """The region exists in AWS: zones, offerings and prices follow from it.

    Source: AWS Regions and Availability Zones, as in landbridge/catalog/regions.yaml.
    """
    if environment.region not in regions():
        fix = suggestion(environment.region, regions())
        yield error(REGION, f'there is no region "{environment.region}"', fix=fix)


@rule
def unknown_zone(environment: Environment) -> Iterator[Finding]:
    """A zone is a zone id of the environment's region.

    Names such as us-east-1a are different zones in different accounts; an id is the same in all.
    Source: AWS RAM User Guide, "Availability Zone IDs".
    """
    known_zones = zones(environment.region)
    for path, zone in _named_zones(environment):
        if known_zones and zone not in known_zones:
            message = f"{environment.region} has no zone {zone}"
            zone_region = next((name for name, region in regions().items() if zone in region.zones), None)
            fix = (
                suggestion(zone, known_zones)
                if zone_region is None
                else f"{zone} is in {zone_region}; zones of this region: {', '.join(known_zones)}"
            )
            yield error(path, message, fix=fix, related=(REGION,))


@rule
def repeated_zone(environment: Environment) -> Iterator[Finding]:
    """A zone is written once: a repetition is often a misspelt other zone.

    Source: Landbridge; ParallelCluster SubnetsValidator refuses two subnets of one zone.
    """
    for path, named in _zone_lists(environment):
        for index, zone in enumerate(named):
            if zone in named[:index]:
                yield warning((*path, index), f"the zone {zone} is repeated", fix="remove it")


@rule
def type_not_in_region(environment: Environment) -> Iterator[Finding]:
    """The region offers every instance type of the pools.

    Launches of other types fail with Unsupported, after the stack has been created. AWS adds offerings: run
    `landbridge catalog refresh`.
    Source: EC2 DescribeInstanceTypeOfferings and AWS's price lists, as in landbridge/catalog/instances.
    """
    region = environment.region
    region_facts = regions().get(region)
    if region_facts is None:
        return
    unrecorded: set[str] = set()
    for at in capacities(environment):
        if at.type is None:
            continue
        is_offered = offered(at.type, region)
        if is_offered is None or not (at.type.zones or at.type.regions):
            unrecorded.add(at.instance)
        elif not is_offered:
            others = [name for name in regions() if offered(at.type, name)]
            fix = f"as of {at.type.date} offered in {', '.join(sorted(others)) or 'no region that is recorded'}"
            message = f"{at.instance} is not offered in {region}"
            yield error(at.instance_path, message, fix=fix, related=(REGION,))
    if unrecorded:
        message = f"the catalogue does not record whether {region} offers these types ({', '.join(sorted(unrecorded))})"
        fix = "run `landbridge preflight`, which queries AWS"
        yield info(REGION, message, fix=fix, related=(("aws", "pools"),))


@rule
def type_not_in_zone(environment: Environment) -> Iterator[Finding]:
    """The zones of a capacity offer its instance type: in other zones every launch is refused.

    An error if no zone offers it; otherwise a warning, because the next zone is tried.
    Source: EC2 DescribeInstanceTypeOfferings by zone, as in landbridge/catalog/instances.
    """
    region = regions().get(environment.region)
    if region is None or region.offerings != "zones":
        return
    for at in capacities(environment):
        if at.type is None or not offered(at.type, environment.region):
            continue
        type_zones = at.type.zones_in(region.zones)
        named = [zone for zone in capacity_zones(at.capacity) if zone in region.zones]
        missing = [zone for zone in named if zone not in type_zones]
        severity = Severity.ERROR if len(missing) == len(named) else Severity.WARNING
        for zone in dict.fromkeys(missing):
            fix = f"as of {at.type.date} offered in {', '.join(type_zones)}" if type_zones else None
            message = f"{at.instance} is not offered in {zone}"
            related = (REGION, at.instance_path)
            yield Finding("type-not-in-zone", message, at.zone_path(zone), fix, severity, related)


@rule
def gang_over_zones(environment: Environment) -> Iterator[Finding]:
    """Multi-node jobs with EFA run in one zone: EFA traffic does not leave its subnet.

    The burst controller launches a gang in one zone, the zone of the nodes that run already. Information, because
    several zones offer more capacity; ParallelCluster refuses them.
    Source: EC2 User Guide, "Elastic Fabric Adapter", limitations; ParallelCluster EfaMultiAzValidator.
    """
    for at in capacities(environment):
        named = dict.fromkeys(capacity_zones(at.capacity))
        if at.type is None or at.pool.efa is False or not at.type.efa_cards or at.pool.max_nodes < 2 or len(named) < 2:
            continue
        if isinstance(at.capacity, ReservationGroup):
            continue  # group-over-zones reports it
        message = f"nodes of {at.pool.name} may be in {', '.join(named)}; EFA works within one zone only"
        fix = "write one zone if jobs need all nodes at once"
        yield info(at.at("zones"), message, fix=fix, related=(at.instance_path,))


@rule
def no_common_zone(environment: Environment) -> Iterator[Finding]:
    """The capacities of a pool have a zone in common: their nodes can then run one job.

    A multi-node job takes nodes of one zone only; data transfer between zones is billed.
    Source: EC2 User Guide, "Elastic Fabric Adapter", limitations; EC2 pricing, data transfer between zones.
    """
    known_zones = zones(environment.region)
    for owner in pools(environment):
        if owner.type is None or not owner.type.efa_cards or owner.pool.efa is False or len(owner.pool.capacity) < 2:
            continue
        common = set(known_zones)
        for capacity in owner.pool.capacity:
            kind = instances().get(capacity.instance or owner.pool.instance)
            common &= set(capacity_zones(capacity) or (kind.zones_in(known_zones) if kind else known_zones))
        if not common and known_zones:
            message = f"the capacities of {owner.pool.name} have no zone in common"
            fix = "write a common zone in all of them, or write one pool for each"
            yield warning(owner.at("capacity"), message, fix=fix, related=(REGION,))


def _named_zones(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    for at in capacities(environment):
        for zone in capacity_zones(at.capacity):
            yield at.zone_path(zone), zone
    for path, share in cloud_file_systems(environment):
        if isinstance(share, Efs):
            yield from (((*path, "zones", index), zone) for index, zone in enumerate(share.zones))
        elif share.zone is not None:
            yield (*path, "zone"), share.zone
    for path, existing in existing_file_systems(environment):
        if isinstance(existing, ExistingEfs):
            yield from (((*path, "zones", index), zone) for index, zone in enumerate(existing.zones))
        else:
            yield (*path, "zone"), existing.zone


def _zone_lists(environment: Environment) -> Iterator[tuple[DataPath, tuple[str, ...]]]:
    for at in capacities(environment):
        yield at.at("zones"), capacity_zones(at.capacity)
    for path, share in cloud_file_systems(environment):
        if isinstance(share, Efs):
            yield (*path, "zones"), share.zones
    for path, existing in existing_file_systems(environment):
        if isinstance(existing, ExistingEfs):
            yield (*path, "zones"), existing.zones
