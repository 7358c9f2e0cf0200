"""Rules about on-prem machines and the packages that run on them."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.catalog import platforms, slurm_releases
from landbridge.environment import Environment, SlurmSettings
from landbridge.findings import DataPath, Finding, error
from landbridge.plan.slurm.nodes import USABLE_MEMORY
from landbridge.rules.environment_paths import suggestion
from landbridge.rules.registry import rule


@rule
def unknown_platform(environment: Environment) -> Iterator[Finding]:
    """A group of nodes names a platform of the catalogue: its GPUs, processors and memory follow from it.

    Source: the platforms' data sheets, as in landbridge/catalog/platforms.
    """
    for index, group in enumerate(environment.node_groups):
        if group.platform not in platforms():
            path: DataPath = ("onprem", "nodes", index, "platform")
            message, fix = f'unknown platform "{group.platform}"', suggestion(group.platform, platforms())
            yield error(path, message, fix=fix)


@rule
def built_packages_without_repository(environment: Environment) -> Iterator[Finding]:
    """Slurm's own packages are in no Debian archive: they come from where the site serves what it has built and signed.

    Source: `landbridge packages slurm`; sources.list(5), Signed-By.
    """
    slurm = environment.scheduler.slurm
    path: DataPath = ("scheduler", "slurm")
    if slurm.packaging == "debian":
        return
    if slurm.packages_mirror in (None, SlurmSettings().packages_mirror):
        message = "Debian's archive has no packages of Slurm's own making"
        fix = "build them (landbridge packages slurm), and say where they are served: packages_mirror"
        yield error((*path, "packaging"), message, fix=fix, related=(path,))
    if slurm.packages_key is None:
        message, fix = (
            "packages that nobody signs would be refused",
            "packages_key: the text of key.asc in the repository",
        )
        yield error((*path, "packaging"), message, fix=fix, related=(path,))


@rule
def slurm_without_packages(environment: Environment) -> Iterator[Finding]:
    """Some Slurm versions are in no Debian release: then the site says where its packages come from.

    Source: Debian's package archive, as in landbridge/catalog/slurm.yaml.
    """
    slurm = environment.scheduler.slurm
    nowhere = slurm.packages_release is None and slurm.packaging == "debian"
    if slurm_releases()[slurm.version].debian_release is None and nowhere:
        packaged = [version for version, release in slurm_releases().items() if release.debian_release is not None]
        message = f"no Debian release carries Slurm {slurm.version}"
        fix = f"use {' or '.join(packaged)}, build your own (landbridge packages slurm), or name yours in packages_release"
        yield error(("scheduler", "slurm", "version"), message, fix=fix)


@rule
def reserved_cores_and_memory(environment: Environment) -> Iterator[Finding]:
    """What a group of nodes keeps for the system leaves memory and cores for jobs.

    Source: slurm.conf(5), MemSpecLimit (less than RealMemory) and CoreSpecCount: slurmd drains a node that has not that many.
    """
    for index, group in enumerate(environment.node_groups):
        if group.platform not in platforms():
            continue
        platform, own = platforms()[group.platform], group.hardware
        cores = (own.sockets or platform.cpus.sockets) * (own.cores_per_socket or platform.cpus.cores_per_socket)
        memory = int((own.memory_mib or platform.memory_mib) * USABLE_MEMORY)
        path: DataPath = ("onprem", "nodes", index, "hardware")
        if own.reserved_cores is not None and cores - own.reserved_cores < platform.gpus.count:
            message = f"of {cores} cores, {own.reserved_cores} are reserved: that is not one for each of {platform.gpus.count} GPUs"
            yield error((*path, "reserved_cores"), message, fix="reserve one or two for each socket")
        if own.reserved_memory_mib is not None and own.reserved_memory_mib >= memory:
            message = f"of {memory} MiB that Slurm is told of, {own.reserved_memory_mib} are reserved"
            yield error((*path, "reserved_memory_mib"), message, fix="16384 is plenty")


@rule
def nvlink_domain_size(environment: Environment) -> Iterator[Finding]:
    """Nodes of a rack-scale machine that name the same rack are in one NVLink domain, which has only so many.

    Source: NVIDIA's data sheets, as in landbridge/catalog/platforms; Slurm's topology guide, topology/block.
    """
    counted: dict[str, int] = {}
    for index, group in enumerate(environment.node_groups):
        domain = platforms()[group.platform].domain if group.platform in platforms() else None
        if domain is None:
            continue
        before = counted.get(group.rack, 0)
        counted[group.rack] = before + len(hostlist.expand(group.hosts))
        if before <= domain.nodes < counted[group.rack]:
            message = f"{counted[group.rack]} nodes are in rack {group.rack}, and an NVLink domain of {group.platform} has {domain.nodes}"
            yield error(("onprem", "nodes", index, "rack"), message, fix="give each domain a rack of its own")
