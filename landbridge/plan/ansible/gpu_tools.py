"""GPU tools beside the driver: DCGM, NVIDIA Container Toolkit, RDMA, GPUDirect Storage. Pure."""

from collections.abc import Sequence
from typing import Any

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.catalog.hardware.node_software import node_software
from landbridge.catalog.hardware.published import published
from landbridge.environment import Environment, NodeGroup
from landbridge.environment.onprem.gpu_tools import GpuTools, Rdma
from landbridge.plan.ansible.gpu_stack import branch_of, driver_of, installs_driver, software
from landbridge.plan.site.adapters import needs_rdma, ports_of
from landbridge.plan.site.mig import group_of

#: Program of the role dcgm that prolog and epilog call.
STATISTICS = "/opt/landbridge/bin/landbridge-job-statistics"
# The first branch whose driver is CUDA 13's. Source: CUDA toolkit release notes, minimum driver versions.
_CUDA_13_DRIVER_BRANCH = 580


def gpu_tools_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables of the roles dcgm, nvidia_container_toolkit, rdma, gds and slurm_job_environment.

    Empty for hosts that are not nodes, and for nodes whose operating system includes the driver: it includes these tools
    too.
    """
    group, driver = group_of(environment, host), driver_of(environment)
    if (
        group is None
        or environment.onprem is None
        or not installs_driver(driver, group)
        or group.platform not in platforms()
    ):
        return {}
    tools = environment.onprem.gpu_tools
    platform = platforms()[group.platform]
    # With NVIDIA's repository, the role nvidia_driver has already configured it; a mirror of it has DCGM too.
    is_distribution_archive = driver.repository != "nvidia"
    return {
        **(_dcgm(tools, branch_of(driver), is_distribution_archive, driver.mirror) if tools.dcgm else {}),
        **(_containers(tools, environment.containers.engines) if tools.container_toolkit else {}),
        **(_rdma(tools.rdma) if _uses_rdma(tools.rdma, group) else {}),
        # Source: GPUDirect Storage release notes: nvidia-fs from 2.17.5 on needs the open kernel modules.
        **({"landbridge_gds": True} if tools.gds and software(driver, platform).modules == "open" else {}),
    }


def gpu_metrics_hosts(environment: Environment) -> frozenset[str]:
    """Return the on-prem nodes with DCGM, which get an exporter for it: Landbridge's, or that of their operating system."""
    groups = [group for group in environment.node_groups if _has_dcgm(environment, group)]
    return frozenset(host for group in groups for host in hostlist.expand(group.hosts))


def _has_dcgm(environment: Environment, group: NodeGroup) -> bool:
    if group.platform not in platforms():
        return False
    installed = environment.onprem is not None and environment.onprem.gpu_tools.dcgm
    return published().includes_dcgm(group.os) or (installed and installs_driver(driver_of(environment), group))


def _uses_rdma(rdma: Rdma, group: NodeGroup) -> bool:
    """Return whether a node of the group gets the role rdma.

    A fabric whose kind is not stated (a platform with wirings of both kinds) needs it too.
    """
    is_wired = needs_rdma(ports_of(group)) or needs_rdma(platforms()[group.platform].adapters)
    return rdma.stack != "none" and (bool(rdma.roce) or is_wired)


def _dcgm(tools: GpuTools, branch: str, is_distribution_archive: bool, mirror: str | None) -> dict[str, Any]:
    variables = {
        "landbridge_dcgm": True,
        "dcgm_cuda": "13" if int(branch) >= _CUDA_13_DRIVER_BRANCH else "12",
        "dcgm_version": tools.dcgm_version or "",
        "dcgm_repository": is_distribution_archive,
        "dcgm_mirror": mirror or "",
    }
    return variables | ({"slurm_job_environment_statistics": STATISTICS} if tools.job_statistics else {})


def toolkit_packages(engines: Sequence[str]) -> list[str]:
    """Return the packages of NVIDIA Container Toolkit.

    Source: NVIDIA/enroot conf/hooks/98-nvidia.sh: a container with GPUs needs nvidia-container-cli, which is in
    libnvidia-container-tools; CDI does not.
    """
    return ["nvidia-container-toolkit-base", *(["libnvidia-container-tools"] if "enroot" in engines else [])]


def _containers(tools: GpuTools, engines: Sequence[str]) -> dict[str, Any]:
    mirror = (tools.container_toolkit_mirror or "").rstrip("/")
    return {
        "landbridge_container_toolkit": True,
        "nvidia_container_toolkit_packages": toolkit_packages(engines),
        "nvidia_container_toolkit_version": tools.container_toolkit_version or "",
        "nvidia_container_toolkit_mirror": mirror and f"{mirror}/",
        "nvidia_container_toolkit_key_url": mirror and f"{mirror}/gpgkey",
    }


def _rdma(rdma: Rdma) -> dict[str, Any]:
    return {
        "landbridge_rdma": True,
        "rdma_stack": rdma.stack,
        "rdma_version": rdma.version or node_software().doca.version,
        "rdma_mirror": rdma.mirror or "",
        "rdma_gpu_memory": rdma.gpu_memory,
        "rdma_roce": [port.model_dump(mode="json") for port in rdma.roce],
    }
