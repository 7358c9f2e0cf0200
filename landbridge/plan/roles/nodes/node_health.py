"""Role node_health: health checks of GPU nodes, with the values that each platform has."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.site.mig import group_of


def node_health_variables(environment: Environment, host: InventoryHost) -> dict[str, Any]:
    """Return one node's variables; empty for a host without a platform."""
    from landbridge.plan.site.health import expected_of, health_variables

    if host.platform is None:
        return {}
    group = group_of(environment, host.name)
    expected = {"node_health_expected": expected_of(environment, host.platform, group)}
    return expected if group is None else expected | health_variables(environment, group)


ROLE = HostRole(host_variables=lambda site, host: node_health_variables(site.environment, host))
