"""Role slurm_login: Slurm's client commands and sackd, on login hosts and other hosts that submit jobs."""

from collections.abc import Iterator
from typing import Any

from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site, group_roles
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.site.slurm_clients import controller_networks, from_aws, node_networks
from landbridge.plan.slurm_ports import slurm_ports


def _session_variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.site.home_directories import session_variables

    return session_variables(site.environment)


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    from landbridge.plan.slurm.sackd import needs_sackd

    with_commands = {role.group for role in group_roles().values() if role.has_slurm_commands}
    is_controller, is_node = "slurm_controller" in host.groups, "slurm_node" in host.groups
    variables: dict[str, Any] = {}
    if with_commands & set(host.groups) and (is_controller or is_node):
        variables["slurm_login_daemon"] = False
        variables["slurm_login_keeps_sackd"] = is_controller and needs_sackd(site.environment)
    if is_controller and is_node:
        # sackd and slurmd would use the same runtime folder.
        variables |= {"slurm_controller_sackd": False, "slurm_login_keeps_sackd": False}
    return variables


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    _, slurmd, srun = slurm_ports(site.environment)
    port = site.services.access.port
    yield ROLE.group, FirewallRule((), "tcp", ("22", *(() if port == 22 else (str(port),))), "users log in by ssh")
    yield ROLE.group, tcp_rule(controller_networks(site), slurmd, "slurmctld sends new configuration to sackd")
    clients = (*node_networks(site), *from_aws(site, ROLE, srun))
    yield ROLE.group, tcp_rule(clients, srun, "tasks reach the srun that started them")


def _from_aws(site: Site) -> Iterator[ServiceFlow]:
    if site.services.logins:
        yield ServiceFlow(ROLE.group, "tcp", slurm_ports(site.environment)[2], "tasks reach the srun that started them")


ROLE = HostRole(
    group="slurm_login",
    place=30,
    members=lambda environment, served: served.logins,
    has_slurm_commands=True,
    variables={
        "slurm_login": _session_variables,
        EVERYWHERE: lambda site: {"slurm_login_controllers": list(site.services.controllers)},
    },
    host_variables=_host_variables,
    firewall=_firewall,
    from_aws=_from_aws,
)
