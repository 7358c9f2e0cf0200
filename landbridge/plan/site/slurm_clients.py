"""Networks of the hosts that call Slurm's daemons."""

from landbridge.plan.network.host_role import HostRole, Site, group_roles
from landbridge.plan.network.node_networks import node_ranges
from landbridge.plan.other_regions import aws_ranges


def node_networks(site: Site) -> tuple[str, ...]:
    """Return the networks of on-prem nodes."""
    return tuple(map(str, node_ranges(site.environment)))


def login_networks(site: Site) -> tuple[str, ...]:
    """Return the networks of login hosts."""
    return site.networks(site.services.logins)


def controller_networks(site: Site) -> tuple[str, ...]:
    """Return the networks of controllers."""
    return site.networks(site.services.controllers)


def other_clients(site: Site) -> tuple[str, ...]:
    """Return the networks of hosts with Slurm's client commands that are neither nodes nor login hosts."""
    members = (
        name
        for role in group_roles().values()
        if role.has_slurm_commands
        for name in role.members(site.environment, site.services)
    )
    return tuple(network for network in site.networks(members) if network not in login_networks(site))


def from_aws(site: Site, role: HostRole, ports: str) -> tuple[str, ...]:
    """Return the networks of nodes in AWS if they connect to these ports of a role's hosts."""
    is_used = bool(site.environment.aws.pools) and any(flow.ports == ports for flow in role.from_aws(site))
    return tuple(map(str, aws_ranges(site.environment))) if is_used else ()
