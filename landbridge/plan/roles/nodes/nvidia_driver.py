"""Role nvidia_driver: driver and libraries of on-prem nodes, with branch, repository and pinned packages."""

from dataclasses import dataclass
from typing import Any

from landbridge import hostlist
from landbridge.catalog import Platform, generation, gpu_stack, platforms
from landbridge.catalog.hardware.gpu_stack import DriverPackages
from landbridge.catalog.hardware.gpus import Flavour
from landbridge.catalog.hardware.published import published
from landbridge.environment import Environment
from landbridge.environment.onprem.driver import Driver
from landbridge.environment.onprem.onprem import NodeGroup
from landbridge.plan.network.host_role import HostRole


@dataclass(frozen=True, slots=True)
class GpuSoftware:
    """GPU software of one platform's nodes.

    `locked` are parts, by the catalogue's names, that are pinned to the driver's exact version; `beside` are parts with
    independent versions. `version` is empty if the newest release of the branch is installed.
    """

    branch: str
    version: str
    modules: Flavour
    locked: tuple[str, ...]
    beside: tuple[str, ...]

    def packages(self, system: DriverPackages, flavour: str = "generic") -> dict[str, str]:
        """Return the package names on a system with a kernel flavour, each with the version to pin; an empty version
        pins nothing."""
        versions = dict.fromkeys(system.driver_of(self.branch)[self.modules], self.version)
        parts = system.locked_of(self.branch)
        versions |= {name: self.version for part in self.locked for name in parts.get(part, ())}
        versions |= {name: "" for part in self.beside for name in system.beside.get(part, ())}
        return {
            name.replace("{branch}", self.branch).replace("{flavour}", flavour): version
            for name, version in versions.items()
        }


def driver_of(environment: Environment) -> Driver:
    """Return the site's driver settings; the defaults without a site."""
    return environment.onprem.driver if environment.onprem is not None else Driver()


def installs_driver(driver: Driver, group: NodeGroup) -> bool:
    """Return true if Landbridge installs the driver on a group's nodes; false if their operating system includes it."""
    return driver.install and not published().includes_driver(group.os)


def own_branch(driver: Driver) -> str:
    """Return the branch that nodes with a driver of their own must have; empty for any.

    The catalogue's branch is that of nodes whose driver Landbridge installs: an operating system has its own.
    """
    return "" if driver.install else driver.branch or driver.branch_of_version or ""


def branch_of(driver: Driver) -> str:
    """Return the driver branch: as configured, else the configured release's, else the catalogue's default."""
    return driver.branch or driver.branch_of_version or gpu_stack().branch


def software(driver: Driver, platform: Platform) -> GpuSoftware:
    """Return the GPU software of a platform's nodes.

    Source: NVIDIA Fabric Manager user guide, 2.1 (every machine with NVSwitches runs it, in the driver's own version) and
    1.5 (NVLink 5 also needs nvlsm); IMEX guide; driver installation guide, kernel modules.
    """
    branch = branch_of(driver)
    branch_facts = gpu_stack().branches.get(branch)
    # The distribution's archive keeps only the newest release of a branch.
    version = driver.version or (branch_facts.release if branch_facts and driver.repository == "nvidia" else None)
    modules = generation(platform.gpu).modules[0] if driver.modules == "auto" else driver.modules
    locked = {
        "fabric_manager": platform.fabric_manager,
        "switch_query": platform.fabric_manager,
        "switch_counters": platform.subnet_manager,
        "imex": platform.imex,
    }
    return GpuSoftware(
        branch=branch,
        version=version or "",
        modules=modules,
        locked=tuple(part for part, is_needed in locked.items() if is_needed),
        beside=("subnet_manager",) if platform.subnet_manager else (),
    )


def driver_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables of the roles nvidia_driver, nvidia_fabric and node_health; empty for other hosts."""
    group = next(
        (node_group for node_group in environment.node_groups if host in hostlist.expand(node_group.hosts)), None
    )
    if group is None or group.platform not in platforms():
        return {}
    driver, platform = driver_of(environment), platforms()[group.platform]
    if not installs_driver(driver, group):
        return {"node_health_driver_branch": own_branch(driver)}
    gpu_software = software(driver, platform)
    return {
        "node_health_driver_branch": gpu_software.branch,
        "nvidia_driver_branch": gpu_software.branch,
        "nvidia_driver_version": gpu_software.version,
        "nvidia_driver_modules": gpu_software.modules,
        "nvidia_driver_repository": driver.repository,
        "nvidia_driver_mirror": driver.mirror or "",
        "nvidia_driver_locked": list(gpu_software.locked),
        "nvidia_driver_beside": list(gpu_software.beside),
        "nvidia_driver_secure_boot": driver.secure_boot,
        "nvidia_driver_reboot": driver.reboot,
        "nvidia_fabric_manager": "fabric_manager" in gpu_software.locked,
        "nvidia_fabric_subnet_manager": bool(gpu_software.beside),
        "nvidia_fabric_imex_nodes": imex_nodes(environment, group, platform, host),
    }


def imex_nodes(environment: Environment, group: NodeGroup, platform: Platform, host: str) -> list[str]:
    """Return the addresses of all nodes in the host's NVLink domain, including its own; empty if the domain is a single
    node.

    The nodes of a group are cabled in the file's order, as many to a domain as the platform has.
    Source: NVIDIA IMEX guide, nodes_config.cfg: the same list on every node of the domain.
    """
    if platform.domain is None:
        return []
    names, size = hostlist.expand(group.hosts), platform.domain.nodes
    start = names.index(host) // size * size
    addresses = environment.host_addresses()
    return [addresses[name] for name in names[start : start + size] if name in addresses]


ROLE = HostRole(host_variables=lambda site, host: driver_variables(site.environment, host.name))
