"""Rules that hold the environment against the catalogue."""

from collections.abc import Iterable, Iterator

from landbridge.catalog import instances, platforms, regions, slurm_releases, zones
from landbridge.environment import Environment, capacity_zones
from landbridge.findings import DataPath, Finding, Severity, did_you_mean
from landbridge.plan.network import PARTS
from landbridge.plan.nics import addresses_per_node
from landbridge.rules.registry import rule


@rule
def unknown_region(environment: Environment) -> Iterator[Finding]:
    """The region must be one of AWS's; zones and prices follow from it (catalog/regions.yaml)."""
    if environment.region not in regions():
        near = did_you_mean(environment.region, regions())
        fix = f'did you mean "{near}"?' if near else f"known: {', '.join(sorted(regions()))}"
        yield Finding("unknown-region", f'there is no region "{environment.region}"', ("region",), fix)


@rule
def unknown_platform(environment: Environment) -> Iterator[Finding]:
    """A node's GPUs, processors and memory come from its platform (catalog/platforms.yaml)."""
    for index, group in enumerate(environment.onprem.nodes):
        if group.platform not in platforms():
            yield _unknown("platform", group.platform, platforms(), ("onprem", "nodes", index, "platform"))


@rule
def unknown_instance_type(environment: Environment) -> Iterator[Finding]:
    """A pool's interfaces, GPUs and zones come from its instance type (catalog/instances.yaml)."""
    for index, pool in enumerate(environment.aws.pools):
        if pool.instance not in instances():
            yield _unknown("instance type", pool.instance, instances(), ("aws", "pools", index, "instance"))


@rule
def unknown_zone(environment: Environment) -> Iterator[Finding]:
    """A zone must be of the environment's region, by id: names such as us-east-1a differ from account to account."""
    known = zones(environment.region)
    for path, zone in _named_zones(environment):
        if known and zone not in known:
            near = did_you_mean(zone, known)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(known)}"
            yield Finding("unknown-zone", f"{environment.region} has no zone {zone}", path, fix, related=(("region",),))


@rule
def type_not_in_zone(environment: Environment) -> Iterator[Finding]:
    """The zone should offer the type: a launch elsewhere fails. A warning, for offerings grow after the catalogue's date."""
    known = zones(environment.region)
    for index, pool in enumerate(environment.aws.pools):
        base: DataPath = ("aws", "pools", index)
        kind = instances().get(pool.instance)
        if kind is None:
            continue
        related: tuple[DataPath, ...] = (("region",), (*base, "instance"))
        if known and not kind.zones_in(known):
            message = f"{pool.instance} is not offered in {environment.region}"
            where = sorted(region for region in regions() if kind.zones_in(zones(region)))
            fix = f"offered in {', '.join(where)}"
            yield Finding("type-not-in-zone", message, related[1], fix, Severity.WARNING, (related[0],))
            continue
        for number, capacity in enumerate(pool.capacity):
            for zone in capacity_zones(capacity):
                if zone in known and zone not in kind.zones:
                    path = _zone_path((*base, "capacity", number), capacity_zones(capacity), zone, capacity.kind)
                    fix = f"offered in {', '.join(kind.zones_in(known))}"
                    message = f"{pool.instance} is not offered in {zone}"
                    yield Finding("type-not-in-zone", message, path, fix, Severity.WARNING, related)


@rule
def subnet_too_small(environment: Environment) -> Iterator[Finding]:
    """Every node takes addresses of its zone's subnet; AWS keeps five of each (VPC User Guide, "Subnet sizing")."""
    for index, pool in enumerate(environment.aws.pools):
        if pool.instance not in instances():
            continue
        needed = pool.max_nodes * addresses_per_node(pool.instance, pool.nics)
        available = environment.aws.cidr.num_addresses // PARTS - 5
        if needed > available:
            message = f"{pool.max_nodes} nodes take {needed} addresses; a zone's subnet has {max(available, 0)}"
            path: DataPath = ("aws", "pools", index, "max_nodes")
            related: tuple[DataPath, ...] = (("aws", "cidr"), ("aws", "pools", index, "instance"))
            yield Finding(
                "subnet-too-small", message, path, "widen aws.cidr, or use nics: ip_optimised", related=related
            )


@rule
def slurm_without_packages(environment: Environment) -> Iterator[Finding]:
    """Some Slurm versions are in no Debian release: then the site says where its packages come from."""
    slurm = environment.scheduler.slurm
    if slurm_releases()[slurm.version].debian_release is None and slurm.packages_release is None:
        packaged = [version for version, release in slurm_releases().items() if release.debian_release is not None]
        message = f"no Debian release carries Slurm {slurm.version}"
        fix = f"use {' or '.join(packaged)}, or name your own in scheduler.slurm.packages_release"
        yield Finding("slurm-without-packages", message, ("scheduler", "slurm", "version"), fix)


def _unknown(what: str, name: str, known: Iterable[str], path: DataPath) -> Finding:
    names = sorted(known)
    near = did_you_mean(name, names)
    fix = f'did you mean "{near}"?' if near else f"known: {', '.join(names)}"
    return Finding(f"unknown-{what.replace(' ', '-')}", f'unknown {what} "{name}"', path, fix)


def _named_zones(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    for index, pool in enumerate(environment.aws.pools):
        for number, capacity in enumerate(pool.capacity):
            named = capacity_zones(capacity)
            for zone in named:
                yield _zone_path(("aws", "pools", index, "capacity", number), named, zone, capacity.kind), zone
    scratch = environment.storage.cloud_scratch
    if scratch is not None and scratch.zone is not None:
        yield ("storage", "cloud_scratch", "zone"), scratch.zone


def _zone_path(base: DataPath, named: tuple[str, ...], zone: str, kind: str) -> DataPath:
    return (*base, "zone") if kind in ("reservation", "capacity_block") else (*base, "zones", named.index(zone))
