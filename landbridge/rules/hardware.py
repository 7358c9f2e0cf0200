"""Rules about on-prem machines and the packages that run on them."""

from collections.abc import Iterator

from landbridge.catalog import instances, platforms, slurm_releases
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding
from landbridge.plan.network import PARTS
from landbridge.plan.nics import addresses_per_node
from landbridge.rules.registry import rule
from landbridge.rules.walk import suggestion


@rule
def unknown_platform(environment: Environment) -> Iterator[Finding]:
    """A group of nodes names a platform of the catalogue: its GPUs, processors and memory follow from it.

    Source: the platforms' data sheets, as in landbridge/catalog/platforms.yaml.
    """
    for index, group in enumerate(environment.onprem.nodes):
        if group.platform not in platforms():
            path: DataPath = ("onprem", "nodes", index, "platform")
            message, fix = f'unknown platform "{group.platform}"', suggestion(group.platform, platforms())
            yield Finding("unknown-platform", message, path, fix)


@rule
def subnet_too_small(environment: Environment) -> Iterator[Finding]:
    """Every node takes addresses of its zone's subnet; AWS keeps five of each.

    Source: VPC User Guide, "Subnet sizing".
    """
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
    """Some Slurm versions are in no Debian release: then the site says where its packages come from.

    Source: Debian's package archive, as in landbridge/catalog/slurm.yaml.
    """
    slurm = environment.scheduler.slurm
    if slurm_releases()[slurm.version].debian_release is None and slurm.packages_release is None:
        packaged = [version for version, release in slurm_releases().items() if release.debian_release is not None]
        message = f"no Debian release carries Slurm {slurm.version}"
        fix = f"use {' or '.join(packaged)}, or name your own in scheduler.slurm.packages_release"
        yield Finding("slurm-without-packages", message, ("scheduler", "slurm", "version"), fix)
