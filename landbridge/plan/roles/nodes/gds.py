"""Role gds: GPUDirect Storage."""

from typing import Any

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.roles.nodes.dcgm import gpu_tools_group
from landbridge.plan.roles.nodes.nvidia_driver import driver_of, software


def gds_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables; empty for a host without GPUDirect Storage.

    Source: GPUDirect Storage release notes: nvidia-fs from 2.17.5 on needs the open kernel modules.
    """
    group = gpu_tools_group(environment, host)
    if group is None or environment.onprem is None or not environment.onprem.gpu_tools.gds:
        return {}
    modules = software(driver_of(environment), platforms()[group.platform]).modules
    return {"landbridge_gds": True} if modules == "open" else {}


ROLE = HostRole(host_variables=lambda site, host: gds_variables(site.environment, host.name))
