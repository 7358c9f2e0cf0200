"""Rules about on-prem nodes and their Slurm packages."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.catalog import platforms, slurm_archive, slurm_releases
from landbridge.environment import Environment, SlurmSettings
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.slurm.nodes import USABLE_MEMORY_SHARE
from landbridge.rules.environment_paths import suggestion
from landbridge.rules.registry import rule


@rule
def unknown_platform(environment: Environment) -> Iterator[Finding]:
    """The platform of a node group is in the catalogue: its GPUs, processors and memory follow from it.

    Source: the platforms' data sheets, as in landbridge/catalog/platforms.
    """
    for index, group in enumerate(environment.node_groups):
        if group.platform not in platforms():
            path: DataPath = ("onprem", "nodes", index, "platform")
            message, fix = f'unknown platform "{group.platform}"', suggestion(group.platform, platforms())
            yield error(path, message, fix=fix)


@rule
def built_packages_without_repository(environment: Environment) -> Iterator[Finding]:
    """Packages built from SchedMD's sources need a signed package repository of the site.

    Source: `landbridge packages slurm`; sources.list(5), Signed-By.
    """
    slurm = environment.scheduler.slurm
    path: DataPath = ("scheduler", "slurm")
    if slurm.packaging == "debian":
        return
    if slurm.packages_mirror in (None, SlurmSettings().packages_mirror):
        message = "packages_mirror is missing: Debian's archive has no packages built from SchedMD's sources"
        fix = "build them (landbridge packages slurm), and write the repository in packages_mirror"
        yield error((*path, "packaging"), message, fix=fix, related=(path,))
    if slurm.packages_key is None:
        message, fix = (
            "packages_key is missing: apt refuses unsigned packages",
            "write the text of the repository's key.asc in packages_key",
        )
        yield error((*path, "packaging"), message, fix=fix, related=(path,))


@rule
def example_package_repository(environment: Environment) -> Iterator[Finding]:
    """The repository of Slurm's packages is the site's own, not the examples' repository.

    Source: RFC 2606, section 3: example.org and example.com are reserved for documentation.
    """
    mirror = environment.scheduler.slurm.packages_mirror or ""
    host = mirror.partition("://")[2].partition("/")[0].partition(":")[0]
    if host.endswith(("example.org", "example.com", "example.net")):
        path: DataPath = ("scheduler", "slurm", "packages_mirror")
        fix = "build the packages (landbridge packages slurm), serve the folder, and write its address and the text of its key.asc"
        yield warning(path, f"{host} is a name for examples, so no host can download Slurm's packages", fix=fix)


@rule
def slurm_without_packages(environment: Environment) -> Iterator[Finding]:
    """A Debian release has the Slurm version, or the site has its own packages.

    Source: Debian's package archive, as in landbridge/catalog/slurm.yaml.
    """
    slurm = environment.scheduler.slurm
    has_no_own_packages = slurm.packages_release is None and slurm.packaging == "debian"
    if slurm_releases()[slurm.version].debian_release is None and has_no_own_packages:
        packaged = [version for version, release in slurm_releases().items() if release.debian_release is not None]
        message = f"no Debian release has Slurm {slurm.version}"
        fix = f"use {' or '.join(packaged)}, build your own (landbridge packages slurm), or write packages_release"
        yield error(("scheduler", "slurm", "version"), message, fix=fix)


@rule
def slurm_not_packaged_for_nodes(environment: Environment) -> Iterator[Finding]:
    """The nodes' operating system has packages of the Slurm version, or the site has its own packages.

    Source: packages.ubuntu.com (noble: 23.11.4) and Debian's archive (bookworm: 22.05), as in
    landbridge/catalog/slurm.yaml.
    """
    slurm = environment.scheduler.slurm
    path: DataPath = ("scheduler", "slurm")
    if slurm.packaging == "schedmd" or slurm.packages_release is not None:
        return
    for index, group in enumerate(environment.node_groups):
        if group.os not in slurm_archive().systems:
            message = f"{group.os} has no packages of Slurm {slurm.version}"
            fix = f"build them (landbridge packages slurm {slurm.version}), and write packaging: schedmd in scheduler.slurm"
            yield error(("onprem", "nodes", index, "os"), message, fix=fix, related=(path,))


@rule
def slurm_release(environment: Environment) -> Iterator[Finding]:
    """The release of Slurm belongs to the version.

    Source: slurm.schedmd.com/upgrades.html, release numbers.
    """
    slurm = environment.scheduler.slurm
    if slurm.release not in (None, "newest") and not str(slurm.release).startswith(f"{slurm.version}."):
        message = f"{slurm.release} is not a release of Slurm {slurm.version}"
        yield error(
            ("scheduler", "slurm", "release"),
            message,
            fix=f"write a release of {slurm.version}, or its version",
            related=(("scheduler", "slurm", "version"),),
        )


@rule
def slurm_release_not_held(environment: Environment) -> Iterator[Finding]:
    """Every host gets the same release of Slurm: a slurmd that is newer than slurmctld is refused.

    Debian testing replaces its release: a node that is added later would get a newer one.
    Source: slurm.schedmd.com/upgrades.html (compatibility); Debian's archive, as in landbridge/catalog/slurm.yaml.
    """
    slurm = environment.scheduler.slurm
    if slurm.release == "newest":
        message = "hosts that are installed at different times get different releases of Slurm"
        fix = "remove release, which holds the release of the catalogue, or write one"
        yield warning(("scheduler", "slurm", "release"), message, fix=fix)


@rule
def reserved_cores_and_memory(environment: Environment) -> Iterator[Finding]:
    """Reserved cores and memory of a node group leave enough for jobs.

    Source: slurm.conf(5), MemSpecLimit (less than RealMemory) and CoreSpecCount: slurmd drains a node with fewer.
    """
    for index, group in enumerate(environment.node_groups):
        if group.platform not in platforms():
            continue
        platform, hardware = platforms()[group.platform], group.hardware
        cores = (hardware.sockets or platform.cpus.sockets) * (
            hardware.cores_per_socket or platform.cpus.cores_per_socket
        )
        memory = int((hardware.memory_mib or platform.memory_mib) * USABLE_MEMORY_SHARE)
        path: DataPath = ("onprem", "nodes", index, "hardware")
        if hardware.reserved_cores is not None and cores - hardware.reserved_cores < platform.gpus.count:
            message = f"{hardware.reserved_cores} of {cores} cores are reserved: fewer than one is left for each of {platform.gpus.count} GPUs"
            yield error((*path, "reserved_cores"), message, fix="write one or two for each socket")
        if hardware.reserved_memory_mib is not None and hardware.reserved_memory_mib >= memory:
            message = f"{hardware.reserved_memory_mib} MiB are reserved, all of the {memory} MiB of RealMemory"
            yield error((*path, "reserved_memory_mib"), message, fix="write 16384 or less")


@rule
def nvlink_domain_size(environment: Environment) -> Iterator[Finding]:
    """A rack has at most as many nodes as an NVLink domain of its platform.

    Source: NVIDIA's data sheets, as in landbridge/catalog/platforms; Slurm's topology guide, topology/block.
    """
    nodes_by_rack: dict[str, int] = {}
    for index, group in enumerate(environment.node_groups):
        domain = platforms()[group.platform].domain if group.platform in platforms() else None
        if domain is None:
            continue
        before = nodes_by_rack.get(group.rack, 0)
        nodes_by_rack[group.rack] = before + len(hostlist.expand(group.hosts))
        if before <= domain.nodes < nodes_by_rack[group.rack]:
            message = f"the rack {group.rack} has {nodes_by_rack[group.rack]} nodes; an NVLink domain of {group.platform} has {domain.nodes}"
            yield error(
                ("onprem", "nodes", index, "rack"), message, fix="write a different rack for each NVLink domain"
            )
