"""Rules about the quotas of the account."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import Quota, limits, quota_of
from landbridge.environment import CapacityBlock, Environment, Spot
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.instances.capacity import terms
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.zones import environment_zones, pool_zones
from landbridge.rules.environment_paths import POOLS, PoolAt, pool_capacities, pools, suggestion
from landbridge.rules.registry import rule

_QUOTAS: DataPath = ("aws", "quotas")


@rule
def unknown_quota(environment: Environment) -> Iterator[Finding]:
    """A quota of aws.quotas has a code that the checks use.

    A misspelt code would leave the quota unchecked.
    Source: Service Quotas, Amazon EC2 and Amazon VPC (landbridge/catalog/limits.yaml).
    """
    quota_rows = {row.code: row for row in limits().quotas.rows}
    for code in environment.aws.quotas:
        if code not in quota_rows:
            message = f"the quota code {code} is unknown"
            fix = suggestion(code, quota_rows)
            yield warning((*_QUOTAS, code), message, fix=fix)


@rule
def fleet_quota(environment: Environment) -> Iterator[Finding]:
    """The vCPU quotas allow all pools at max_nodes together.

    EC2 counts the vCPUs of instance families, spot separately; reservations count, Capacity Blocks do not. Only quotas
    of aws.quotas are checked: `landbridge preflight` reads the others from AWS.
    Source: EC2 User Guide, "EC2 instance quotas"; codes in landbridge/catalog/limits.yaml. ParallelCluster's dry run
    requests one node only.
    """
    totals: dict[str, list[tuple[PoolAt, int, int]]] = {}
    for owner in pools(environment):
        for row, vcpus in _counted(owner).items():
            totals.setdefault(row, []).append((owner, owner.pool.max_nodes * vcpus, vcpus))
    rows = {row.code: row for row in limits().quotas.rows}
    for code, uses in totals.items():
        quota = environment.aws.quotas.get(code)
        if quota is None:
            continue
        path: DataPath = (*_QUOTAS, code)
        for owner, max_vcpus, vcpus_per_node in uses:
            if max_vcpus > quota:
                room = (
                    f"enough for {quota // vcpus_per_node} of {owner.pool.max_nodes} nodes"
                    if vcpus_per_node <= quota
                    else "not enough for one node"
                )
                message = f"{rows[code].name} is {quota} vCPUs: {room} of {owner.pool.name} ({vcpus_per_node} each)"
                fix = f"request an increase of {code} to {max_vcpus}, or lower max_nodes"
                related = (path, owner.at("instance"), owner.at("capacity"))
                yield error(owner.at("max_nodes"), message, fix=fix, related=related)
        total = sum(max_vcpus for _, max_vcpus, _ in uses)
        if total > quota and all(max_vcpus <= quota for _, max_vcpus, _ in uses):
            message = f"{rows[code].name} is {quota} vCPUs; all pools at max_nodes need {total}"
            fix = f"request an increase to {total}, or lower max_nodes"
            yield warning(path, message, fix=fix, related=(POOLS,))


@rule
def interface_quota(environment: Environment) -> Iterator[Finding]:
    """The network interfaces of all pools at max_nodes are within the region's quota.

    A p5 node has 33: 152 nodes exceed the default quota of 5,000.
    Source: VPC User Guide, "Amazon VPC quotas", network interfaces per Region (L-DF5E4CA3).
    """
    row = _row("L-DF5E4CA3")
    total = sum(owner.pool.max_nodes * len(pool_interfaces(owner.pool)) for owner in pools(environment))
    quota = environment.aws.quotas.get(row.code, row.default) if row is not None else total
    if row is not None and total > quota:
        verb = "is" if row.code in environment.aws.quotas else "starts at"
        message = f"all pools at max_nodes have {total} network interfaces; the quota {verb} {quota} in a region"
        fix = f"request an increase of {row.code}, and write it in aws.quotas"
        yield warning(POOLS, message, fix=fix, related=(POOLS,))


@rule
def placement_group_quota(environment: Environment) -> Iterator[Finding]:
    """The number of placement groups, one for each pool and zone, is within the region's limit.

    Source: EC2 User Guide, "Placement groups", rules (500 in a region).
    """
    max_groups = limits().placement_groups.groups_per_region
    groups = 0
    for owner in pools(environment):
        if owner.pool.placement_group is None and terms(owner.pool, owner.pool.capacity[0]).placement is not None:
            groups += len(pool_zones(owner.pool, environment.region))
    if groups > max_groups:
        message = f"{groups} placement groups, one for each pool and zone; a region allows {max_groups}"
        fix = "write fewer zones, or share a placement_group among pools"
        yield error(POOLS, message, fix=fix, related=(POOLS,))


@rule
def nat_elastic_ips(environment: Environment) -> Iterator[Finding]:
    """The quota of Elastic IP addresses allows one for each NAT gateway.

    The default quota is five, and a region can have six zones.
    Source: EC2 User Guide, "Elastic IP addresses" (L-0263D0A3).
    """
    row = _row("L-0263D0A3")
    if row is None or environment.aws.nat != "per_zone" or environment.aws.vpc is not None:
        return
    needed = len(environment_zones(environment))
    quota = environment.aws.quotas.get(row.code, row.default)
    if needed > quota:
        verb = "is" if row.code in environment.aws.quotas else "starts at"
        message = f"{needed} NAT gateways need an Elastic IP address each; the quota {verb} {quota}"
        fix = f"write fewer zones in the pools, use nat: single, or request an increase of {row.code}"
        yield warning(("aws", "nat"), message, fix=fix, related=(POOLS,))


def _counted(owner: PoolAt) -> dict[str, int]:
    """Return the quota codes of a pool, with the vCPUs of one node of its largest type."""
    counted: dict[str, int] = {}
    for at in pool_capacities(owner):
        if at.type is None or isinstance(at.capacity, CapacityBlock):
            continue
        row = quota_of(at.type.family, "spot" if isinstance(at.capacity, Spot) else "on_demand")
        if row is not None:
            counted[row.code] = max(counted.get(row.code, 0), at.type.cpus.logical)
    return counted


def _row(code: str) -> Quota | None:
    return next((row for row in limits().quotas.rows if row.code == code), None)
