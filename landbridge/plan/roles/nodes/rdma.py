"""Role rdma: InfiniBand and RoCE."""

from typing import Any

from landbridge.catalog import platforms
from landbridge.catalog.hardware.node_software import node_software
from landbridge.environment import Environment, NodeGroup
from landbridge.environment.onprem.gpu_tools import Rdma
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.roles.nodes.dcgm import gpu_tools_group
from landbridge.plan.site.adapters import needs_rdma, ports_of


def rdma_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables; empty for a host without RDMA."""
    group = gpu_tools_group(environment, host)
    if environment.onprem is None or group is None:
        return {}
    rdma = environment.onprem.gpu_tools.rdma
    return _variables(rdma) if _uses_rdma(rdma, group) else {}


def _uses_rdma(rdma: Rdma, group: NodeGroup) -> bool:
    """Return whether a node of the group gets the role rdma.

    A fabric whose kind is not stated (a platform with wirings of both kinds) needs it too.
    """
    is_wired = needs_rdma(ports_of(group)) or needs_rdma(platforms()[group.platform].adapters)
    return rdma.stack != "none" and (bool(rdma.roce) or is_wired)


def _variables(rdma: Rdma) -> dict[str, Any]:
    return {
        "landbridge_rdma": True,
        "rdma_stack": rdma.stack,
        "rdma_version": rdma.version or node_software().doca.version,
        "rdma_mirror": rdma.mirror or "",
        "rdma_gpu_memory": rdma.gpu_memory,
        "rdma_roce": [port.model_dump(mode="json") for port in rdma.roce],
    }


ROLE = HostRole(host_variables=lambda site, host: rdma_variables(site.environment, host.name))
