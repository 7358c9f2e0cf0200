"""Role nvidia_container_toolkit: GPUs in containers."""

from collections.abc import Sequence
from typing import Any

from landbridge.environment import Environment
from landbridge.environment.onprem.gpu_tools import GpuTools
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.roles.nodes.dcgm import gpu_tools_group


def container_toolkit_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables; empty for a host on which Landbridge does not install the toolkit."""
    if environment.onprem is None or gpu_tools_group(environment, host) is None:
        return {}
    tools = environment.onprem.gpu_tools
    return _variables(tools, environment.containers.engines) if tools.container_toolkit else {}


def toolkit_packages(engines: Sequence[str]) -> list[str]:
    """Return the packages of NVIDIA Container Toolkit.

    Source: NVIDIA/enroot conf/hooks/98-nvidia.sh: a container with GPUs needs nvidia-container-cli, which is in
    libnvidia-container-tools; CDI does not.
    """
    return ["nvidia-container-toolkit-base", *(["libnvidia-container-tools"] if "enroot" in engines else [])]


def _variables(tools: GpuTools, engines: Sequence[str]) -> dict[str, Any]:
    mirror = (tools.container_toolkit_mirror or "").rstrip("/")
    return {
        "landbridge_container_toolkit": True,
        "nvidia_container_toolkit_packages": toolkit_packages(engines),
        "nvidia_container_toolkit_version": tools.container_toolkit_version or "",
        "nvidia_container_toolkit_mirror": mirror and f"{mirror}/",
        "nvidia_container_toolkit_key_url": mirror and f"{mirror}/gpgkey",
    }


ROLE = HostRole(host_variables=lambda site, host: container_toolkit_variables(site.environment, host.name))
