"""Rules about regions and availability zones."""

from collections.abc import Iterator

from landbridge.catalog import instances, offered, regions, zones
from landbridge.environment import Efs, Environment, ReservationGroup, capacity_zones
from landbridge.findings import DataPath, Finding, Severity, error, info, warning
from landbridge.rules.environment_paths import REGION, capacities, cloud_file_systems, pools, suggestion
from landbridge.rules.registry import rule


@rule
def unknown_region(environment: Environment) -> Iterator[Finding]:
    """The region is one of AWS's: zones, offerings and prices follow from it.

    Source: AWS Regions and Availability Zones, as in landbridge/catalog/regions.yaml.
    """
    if environment.region not in regions():
        fix = suggestion(environment.region, regions())
        yield error(REGION, f'there is no region "{environment.region}"', fix=fix)


@rule
def unknown_zone(environment: Environment) -> Iterator[Finding]:
    """A zone is of the environment's region, by its id.

    Names such as us-east-1a mean another zone in every account; an id is the same for all.
    Source: AWS RAM User Guide, "Availability Zone IDs".
    """
    known = zones(environment.region)
    for path, zone in _named_zones(environment):
        if known and zone not in known:
            message = f"{environment.region} has no zone {zone}"
            home = next((name for name, one in regions().items() if zone in one.zones), None)
            fix = suggestion(zone, known) if home is None else f"{zone} is in {home}; here there are {', '.join(known)}"
            yield error(path, message, fix=fix, related=(REGION,))


@rule
def repeated_zone(environment: Environment) -> Iterator[Finding]:
    """A zone is named once: a second time it changes nothing, and often another one was meant.

    Source: Landbridge; ParallelCluster SubnetsValidator refuses two subnets of one zone.
    """
    for path, named in _zone_lists(environment):
        for index, zone in enumerate(named):
            if zone in named[:index]:
                yield warning((*path, index), f"{zone} is here twice", fix="remove it")


@rule
def type_not_in_region(environment: Environment) -> Iterator[Finding]:
    """The region offers every type that is named. Where it is not recorded, nothing is said but that.

    A launch elsewhere fails with Unsupported, after the stack has been built. Offerings grow: `landbridge catalog refresh`.
    Source: EC2 DescribeInstanceTypeOfferings and AWS's price lists, as in landbridge/catalog/instances.
    """
    region = environment.region
    seen = regions().get(region)
    if seen is None:
        return
    unrecorded: set[str] = set()
    for at in capacities(environment):
        if at.type is None:
            continue
        there = offered(at.type, region)
        if there is None or not (at.type.zones or at.type.regions):
            unrecorded.add(at.instance)
        elif not there:
            others = [name for name in regions() if offered(at.type, name)]
            fix = f"as of {at.type.date} offered in {', '.join(sorted(others)) or 'no region that is recorded'}"
            message = f"{at.instance} is not offered in {region}"
            yield error(at.instance_path, message, fix=fix, related=(REGION,))
    if unrecorded:
        message = f"which types {region} offers is not recorded ({', '.join(sorted(unrecorded))})"
        fix = "`landbridge preflight` asks AWS"
        yield info(REGION, message, fix=fix, related=(("aws", "pools"),))


@rule
def type_not_in_zone(environment: Environment) -> Iterator[Finding]:
    """The zones of a capacity offer its type: of the others, every launch is refused.

    An error where none of them does, for then the capacity is never to be had; else a warning, for the next zone is tried.
    Source: EC2 DescribeInstanceTypeOfferings by zone, as in landbridge/catalog/instances.
    """
    region = regions().get(environment.region)
    if region is None or region.offerings != "zones":
        return
    for at in capacities(environment):
        if at.type is None or not offered(at.type, environment.region):
            continue
        there = at.type.zones_in(region.zones)
        named = [zone for zone in capacity_zones(at.capacity) if zone in region.zones]
        missing = [zone for zone in named if zone not in there]
        severity = Severity.ERROR if len(missing) == len(named) else Severity.WARNING
        for zone in dict.fromkeys(missing):
            fix = f"as of {at.type.date} offered in {', '.join(there)}" if there else None
            message = f"{at.instance} is not offered in {zone}"
            related = (REGION, at.instance_path)
            yield Finding("type-not-in-zone", message, at.zone_path(zone), fix, severity, related)


@rule
def gang_over_zones(environment: Environment) -> Iterator[Finding]:
    """Whoever runs jobs over several EFA nodes should know that they stay in one zone: EFA does not leave its subnet.

    The burst controller starts a gang in one zone and keeps to the zone of the nodes that run already. Information, for
    several zones are more chances of capacity; ParallelCluster refuses them.
    Source: EC2 User Guide, "Elastic Fabric Adapter", limitations; ParallelCluster EfaMultiAzValidator.
    """
    for at in capacities(environment):
        named = dict.fromkeys(capacity_zones(at.capacity))
        if at.type is None or at.pool.efa is False or not at.type.efa_cards or at.pool.max_nodes < 2 or len(named) < 2:
            continue
        if isinstance(at.capacity, ReservationGroup):
            continue  # group-over-zones says more
        message = f"nodes of {at.pool.name} may be in {', '.join(named)}; EFA joins those of one zone only"
        fix = "name one zone where jobs should be able to take every node at once"
        yield info(at.at("zones"), message, fix=fix, related=(at.instance_path,))


@rule
def no_common_zone(environment: Environment) -> Iterator[Finding]:
    """The capacities of a pool share a zone: nodes of different ones can then work on one job.

    A gang takes idle nodes of one zone only, so nodes bought in other zones wait beside it; data crosses zones for money.
    Source: EC2 User Guide, "Elastic Fabric Adapter", limitations; EC2 pricing, data transfer between zones.
    """
    known = zones(environment.region)
    for owner in pools(environment):
        if owner.type is None or not owner.type.efa_cards or owner.pool.efa is False or len(owner.pool.capacity) < 2:
            continue
        common = set(known)
        for capacity in owner.pool.capacity:
            kind = instances().get(capacity.instance or owner.pool.instance)
            common &= set(capacity_zones(capacity) or (kind.zones_in(known) if kind else known))
        if not common and known:
            message = f"the capacities of {owner.pool.name} have no zone in common"
            fix = "name one zone in all of them, or make a pool of each"
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


def _zone_lists(environment: Environment) -> Iterator[tuple[DataPath, tuple[str, ...]]]:
    for at in capacities(environment):
        yield at.at("zones"), capacity_zones(at.capacity)
    for path, share in cloud_file_systems(environment):
        if isinstance(share, Efs):
            yield (*path, "zones"), share.zones
