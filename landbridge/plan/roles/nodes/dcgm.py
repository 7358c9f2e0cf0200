"""Role dcgm: NVIDIA's monitoring of GPUs, which also counts the GPU use of jobs."""

from typing import Any

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.catalog.hardware.published import published
from landbridge.environment import Environment, NodeGroup
from landbridge.environment.onprem.gpu_tools import GpuTools
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.roles.nodes.nvidia_driver import branch_of, driver_of, installs_driver
from landbridge.plan.site.mig import group_of

#: Program of the role dcgm that prolog and epilog call.
STATISTICS = "/opt/landbridge/bin/landbridge-job-statistics"
# The first branch whose driver is CUDA 13's. Source: CUDA toolkit release notes, minimum driver versions.
_CUDA_13_DRIVER_BRANCH = 580


def gpu_tools_group(environment: Environment, host: str) -> NodeGroup | None:
    """Return the group of a node on which Landbridge installs GPU tools beside the driver; None for other hosts.

    An operating system that includes the driver includes these tools too.
    """
    group = group_of(environment, host)
    if group is None or environment.onprem is None or group.platform not in platforms():
        return None
    return group if installs_driver(driver_of(environment), group) else None


def gpu_metrics_hosts(environment: Environment) -> frozenset[str]:
    """Return the on-prem nodes with DCGM, which get an exporter for it: Landbridge's, or their operating system's."""
    groups = [group for group in environment.node_groups if _has_dcgm(environment, group)]
    return frozenset(host for group in groups for host in hostlist.expand(group.hosts))


def _has_dcgm(environment: Environment, group: NodeGroup) -> bool:
    if group.platform not in platforms():
        return False
    installed = environment.onprem is not None and environment.onprem.gpu_tools.dcgm
    return published().includes_dcgm(group.os) or (installed and installs_driver(driver_of(environment), group))


def dcgm_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables; empty for other hosts, and for nodes whose operating system includes DCGM."""
    group, driver = gpu_tools_group(environment, host), driver_of(environment)
    if group is None or environment.onprem is None or not environment.onprem.gpu_tools.dcgm:
        return {}
    # With NVIDIA's repository, the role nvidia_driver has already configured it; a mirror of it has DCGM too.
    is_distribution_archive = driver.repository != "nvidia"
    return _variables(environment.onprem.gpu_tools, branch_of(driver), is_distribution_archive, driver.mirror)


def _variables(tools: GpuTools, branch: str, is_distribution_archive: bool, mirror: str | None) -> dict[str, Any]:
    variables = {
        "landbridge_dcgm": True,
        "dcgm_cuda": "13" if int(branch) >= _CUDA_13_DRIVER_BRANCH else "12",
        "dcgm_version": tools.dcgm_version or "",
        "dcgm_repository": is_distribution_archive,
        "dcgm_mirror": mirror or "",
    }
    return variables | ({"slurm_job_environment_statistics": STATISTICS} if tools.job_statistics else {})


ROLE = HostRole(host_variables=lambda site, host: dcgm_variables(site.environment, host.name))
