"""Role node_restart: restarts of on-prem nodes with their failure budget, waiting times and policy."""

from typing import Any

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.catalog.hardware.node_restarts import node_restarts
from landbridge.environment import Environment
from landbridge.environment.onprem.onprem import NodeGroup
from landbridge.environment.onprem.restarts import NodeRestarts
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.roles.nodes.nvidia_driver import driver_of
from landbridge.plan.site.mig import group_of


def restarts_of(environment: Environment) -> NodeRestarts:
    """Return the site's settings of restarts; the defaults without a site."""
    return environment.onprem.restarts if environment.onprem is not None else NodeRestarts()


def at_once(environment: Environment) -> int:
    """Return the number of nodes that are drained and restarted at the same time; at most the failure budget."""
    settings = restarts_of(environment)
    count = settings.at_once or node_restarts().at_once.of(_nodes(environment))
    return min(count, out_of_service(environment))


def out_of_service(environment: Environment) -> int:
    """Return the failure budget: the number of nodes that may be out of service at the same time."""
    settings = restarts_of(environment)
    return settings.out_of_service or node_restarts().out_of_service.of(_nodes(environment))


def restart_minutes(environment: Environment, group: NodeGroup) -> int:
    """Return the minutes until a node of the group answers after a restart."""
    platform = platforms().get(group.platform)
    by_platform = platform.restart_minutes if platform is not None else None
    return restarts_of(environment).minutes or by_platform or node_restarts().minutes.value


def node_restart_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables of the role node_restart; empty for other hosts."""
    group = group_of(environment, host)
    if group is None:
        return {}
    settings, seconds = restarts_of(environment), restart_minutes(environment, group) * 60
    return {
        "node_restart_policy": driver_of(environment).reboot,
        "node_restart_at_once": at_once(environment),
        "node_restart_out_of_service": out_of_service(environment),
        "node_restart_drain_minutes": settings.drain_minutes,
        "node_restart_timeout": seconds,
        "nvidia_driver_drain_minutes": settings.drain_minutes,
        "nvidia_driver_reboot_timeout": seconds,
    }


def _nodes(environment: Environment) -> int:
    return sum(len(hostlist.expand(group.hosts)) for group in environment.node_groups)


ROLE = HostRole(host_variables=lambda site, host: node_restart_variables(site.environment, host.name))
