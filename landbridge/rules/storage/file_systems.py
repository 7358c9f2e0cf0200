"""Rules about file systems in AWS: options, zones, clients and costs of FSx and EFS."""

from collections.abc import Iterator
from typing import Literal

from landbridge.catalog import regions
from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import Efs, Environment, FsxLustre
from landbridge.findings import DataPath, Finding, Severity, error, info, warning
from landbridge.plan.aws.storage.file_system_rules import (
    file_system_security_group_rules,
    room_for_rules,
    share_clients,
)
from landbridge.plan.aws_limits import rule_count_violations
from landbridge.plan.cost.bill_lines import SpendLine
from landbridge.plan.cost.storage import storage_spend
from landbridge.plan.storage import pools_elsewhere, storage_violations, zone, zones, zones_needed
from landbridge.plan.zones import environment_zones
from landbridge.rules.environment_paths import POOLS, REGION, cloud_file_systems, pools, usd
from landbridge.rules.registry import rule


@rule
def lustre_options(environment: Environment) -> Iterator[Finding]:
    """The options of an FSx for Lustre file system are a combination that AWS offers.

    Otherwise FSx refuses CreateFileSystem, half an hour after the start of the deployment.
    Source: FSx API Reference, CreateFileSystemLustreConfiguration; FSx for Lustre User Guide
    (landbridge/catalog/storage.yaml).
    """
    yield from _refused(environment, "fsx_lustre", "lustre-options")


@rule
def openzfs_options(environment: Environment) -> Iterator[Finding]:
    """Size, throughput and IOPS of an FSx for OpenZFS file system are offered in the region.

    Source: FSx API Reference, CreateFileSystemOpenZFSConfiguration (landbridge/catalog/storage.yaml).
    """
    yield from _refused(environment, "fsx_openzfs", "openzfs-options")


@rule
def efs_options(environment: Environment) -> Iterator[Finding]:
    """The performance and throughput modes of an EFS file system are compatible.

    Source: EFS User Guide, "Amazon EFS performance specifications" (landbridge/catalog/storage.yaml).
    """
    yield from _refused(environment, "efs", "efs-options")


@rule
def file_system_rules(environment: Environment) -> Iterator[Finding]:
    """The quota of a file system's security group permits a rule for each client and port.

    Source: Amazon VPC User Guide, "Amazon VPC quotas", security groups (L-0EA8095F).
    """
    for path, share in cloud_file_systems(environment):
        clients, security_group_rules = (
            share_clients(environment, share),
            file_system_security_group_rules(environment, share),
        )
        rule_count = sum(
            clients if rule.peer == "client" else 1 for rule in security_group_rules if rule.direction == "in"
        )
        for fault in rule_count_violations(rule_count, room_for_rules(environment)):
            message = f"{fault.message}: one for each of {clients} pools and services, and each of its ports"
            fix = "write fewer pools, or request an increase of quota L-0EA8095F and write it in aws.quotas"
            yield error(path, message, fix=fix, related=(POOLS, ("aws", "quotas")))


@rule
def lustre_efa_region(environment: Environment) -> Iterator[Finding]:
    """The region has FSx for Lustre with EFA.

    Source: FSx for Lustre User Guide, "Deployment type availability" (landbridge/catalog/regions.yaml).
    """
    region = regions().get(environment.region)
    region_names = [name for name, region_facts in regions().items() if "fsx_lustre_efa" in region_facts.services]
    if region is None or not region_names or "fsx_lustre_efa" in region.services:
        return
    for path, share in cloud_file_systems(environment):
        if isinstance(share, FsxLustre) and share.efa:
            message = f"{environment.region} has no FSx for Lustre with EFA"
            fix = f"write efa: false, or use one of {', '.join(sorted(region_names))}"
            yield error((*path, "efa"), message, fix=fix, related=(REGION,))


@rule
def lustre_efa_clients(environment: Environment) -> Iterator[Finding]:
    """Pools read an FSx for Lustre file system with EFA over EFA.

    A client without EFA, or of a family that does not support it for Lustre, reads over TCP, which is slower, without
    an error.
    Source: FSx for Lustre User Guide, "Configuring EFA clients"; awsome-distributed-ai pull request 1202.
    """
    unsupported = facts().fsx_lustre.efa.unsupported_families
    for path, share in cloud_file_systems(environment):
        if not isinstance(share, FsxLustre) or not share.efa:
            continue
        matching_pools = [at for at in pools(environment) if at.type is not None]
        without = [
            at
            for at in matching_pools
            if at.type is not None and (not at.type.efa_cards or at.pool.efa is False or at.type.family in unsupported)
        ]
        if not without:
            continue
        names = ", ".join(dict.fromkeys(f"{at.pool.name} ({at.pool.instance})" for at in without[:5]))
        is_no_pool = len(without) == len(matching_pools)
        message = f"{'no pool reads' if is_no_pool else 'some pools do not read'} it over EFA: {names}"
        fix = (
            "write efa: false, and choose the size freely"
            if is_no_pool
            else "expect less throughput: they read over TCP"
        )
        severity = Severity.WARNING if is_no_pool else Severity.INFO
        yield Finding("lustre-efa-clients", message, (*path, "efa"), fix, severity, (POOLS,))


@rule
def lustre_import_path(environment: Environment) -> Iterator[Finding]:
    """A persistent_2 file system has repositories, not import_path and export_path.

    Other deployments still allow them at creation; repositories can be added and removed later.
    Source: FSx API Reference, CreateFileSystemLustreConfiguration, ImportPath; FSx for Lustre User Guide,
    "Linking your file system to an S3 bucket".
    """
    deployments_without = facts().fsx_lustre.repositories.older_way_not_on
    for path, share in cloud_file_systems(environment):
        if not isinstance(share, FsxLustre):
            continue
        for key in ("import_path", "export_path"):
            if getattr(share, key) is None:
                continue
            fix = "write repositories: [{folder: /data, bucket: s3://…}]"
            if share.deployment in deployments_without:
                message = f"{share.deployment} does not support {key}"
                yield error((*path, key), message, fix=fix, related=((*path, "deployment"),))
            elif not share.repositories:
                message = f"{key} cannot be changed later"
                yield info((*path, key), message, fix=fix)


@rule
def storage_zone(environment: Environment) -> Iterator[Finding]:
    """A file system's zone has a subnet: a pool uses the zone.

    Source: Landbridge creates subnets for the zones of pools (landbridge/plan/network/subnets.py); FSx API, SubnetIds.
    """
    known_zones = environment_zones(environment)
    if not known_zones:
        return
    for path, share in cloud_file_systems(environment):
        named = [(index, zone) for index, zone in enumerate(share.zones)] if isinstance(share, Efs) else []
        zone_paths: list[tuple[DataPath, str]] = [((*path, "zones", index), zone) for index, zone in named]
        if not isinstance(share, Efs) and share.zone is not None:
            zone_paths.append(((*path, "zone"), share.zone))
        for zone_path, zone_id in zone_paths:
            if zone_id not in known_zones:
                message = f"no pool uses the zone {zone_id}, so it has no subnet and no client"
                yield error(zone_path, message, fix=f"use {' or '.join(known_zones)}", related=(POOLS, REGION))


@rule
def storage_in_other_zone(environment: Environment) -> Iterator[Finding]:
    """Pools use file systems of their own zone: traffic between zones is billed, slower, and not over EFA.

    An error if no pool may be in the file system's zone.
    Source: EC2 pricing, data transfer between zones; ParallelCluster ManagedFsxMultiAzValidator.
    """
    for path, share in cloud_file_systems(environment):
        share_zone = zone(environment, share)
        if isinstance(share, Efs) or share_zone is None:
            continue
        zones_by_pool = pools_elsewhere(environment, share)
        if not zones_by_pool or share_zone not in environment_zones(environment):
            continue
        names = ", ".join(f"{name} ({', '.join(other_zones)})" for name, other_zones in list(zones_by_pool.items())[:4])
        message = f"the file system is in {share_zone}; nodes may be in other zones: {names}"
        fix = f"write zones: [{share_zone}] in their capacity"
        related_path: DataPath = (*path, "zone") if share.zone is not None else path
        yield warning(related_path, message, fix=fix, related=(POOLS, REGION))


@rule
def efs_without_target(environment: Environment) -> Iterator[Finding]:
    """EFS has a mount target in every zone of the pools: otherwise mounting fails.

    Source: EFS User Guide, "Creating mount targets"; ParallelCluster EfsIdValidator.
    """
    for path, share in cloud_file_systems(environment):
        if not isinstance(share, Efs) or not share.zones:
            continue
        missing = sorted({zone for pool_zones in pools_elsewhere(environment, share).values() for zone in pool_zones})
        if missing:
            names = ", ".join(pools_elsewhere(environment, share))
            message = f"there is no mount target in {', '.join(missing)}, a zone of {names}"
            fix = "remove zones: every zone of the pools gets a mount target"
            yield error((*path, "zones"), message, fix=fix, related=(POOLS, REGION))


@rule
def efs_bursting(environment: Environment) -> Iterator[Finding]:
    """EFS does not have bursting throughput: a small file system is slow once its credits are used up.

    It earns 50 KiB/s for each GiB: with 100 GiB a training job reads 5 MiB/s after the first minutes.
    Source: EFS User Guide, "Bursting throughput".
    """
    for path, share in cloud_file_systems(environment):
        if isinstance(share, Efs) and share.throughput == "bursting":
            message = "with throughput: bursting EFS is slow until it stores terabytes"
            fix = "remove throughput: elastic is the default"
            yield warning((*path, "throughput"), message, fix=fix)


@rule
def storage_without_pool(environment: Environment) -> Iterator[Finding]:
    """A file system in AWS has pools that mount it: it is billed in any case.

    An error if it has no zone either: then it has no subnet.
    Source: FSx and EFS pricing; FSx API, SubnetIds.
    """
    if environment.aws.pools:
        return
    for path, share in cloud_file_systems(environment):
        if len(zones(environment, share)) < zones_needed(share):
            message, severity = (
                f"the {share.kind} has no zone: there is no pool",
                Severity.ERROR,
            )
        else:
            message = f"no pool mounts this {share.kind}, and it is billed"
            severity = Severity.WARNING
        yield Finding("storage-without-pool", message, path, "remove it, or add a pool", severity, (POOLS,))


@rule(public_aws=True)
def storage_cost(environment: Environment) -> Iterator[Finding]:
    """The price of a file system is shown: it is billed by size while it exists, used or not.

    Source: FSx and EFS pricing, as dated in landbridge/catalog/prices.yaml.
    """
    months: dict[str, float] = {}
    dates: dict[str, str] = {}
    for line in storage_spend(environment):
        if isinstance(line, SpendLine):
            name = line.description.partition(":")[0]
            months[name] = months.get(name, 0.0) + line.usd_month
            dates[name] = f"{line.as_of}"
    for path, _ in cloud_file_systems(environment):
        name = str(path[-1])
        if name in months:
            message = f"the file system costs {usd(months[name])} a month, used or not (price of {dates[name]})"
            yield info(path, message, fix="run `landbridge cost` for all costs", related=(path,))


_LISTS = ("repositories", "zones")


def _refused(
    environment: Environment, kind: Literal["fsx_lustre", "fsx_openzfs", "efs"], rule_name: str
) -> Iterator[Finding]:
    for path, share in cloud_file_systems(environment):
        if share.kind == kind:
            for fault in storage_violations(share, environment.region):
                # An error in a list of the file system does not affect its size.
                related_keys = [key for key in type(share).model_fields if key not in _LISTS or key == fault.key]
                related = (*((*path, key) for key in related_keys), REGION)
                yield Finding(rule_name, fault.message, (*path, fault.key), fault.fix, related=related)
