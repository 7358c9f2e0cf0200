"""Role slurm_node: slurmd on on-prem nodes."""

from collections.abc import Iterator
from typing import Any

from landbridge import hostlist
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.site.slurm_clients import controller_networks, from_aws, login_networks, node_networks
from landbridge.plan.slurm_ports import slurm_ports


def _variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.slurm.restarts import restart_settings

    settings = restart_settings(site.environment, "slurmd")
    return {"slurm_node_return": True, "slurm_node_start_settings": settings}


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    _, slurmd, srun = slurm_ports(site.environment)
    if nodes := node_networks(site):
        yield ROLE.group, FirewallRule(nodes, "all", (), "jobs use any port: MPI, NCCL, rendezvous of frameworks")
    clients = (*controller_networks(site), *login_networks(site), *from_aws(site, ROLE, slurmd))
    yield ROLE.group, tcp_rule(clients, slurmd, "slurmctld, srun and forwarded messages reach slurmd")
    if in_aws := from_aws(site, ROLE, srun):
        yield ROLE.group, tcp_rule(in_aws, srun, "tasks reach an srun inside a job")


def _from_aws(site: Site) -> Iterator[ServiceFlow]:
    if site.services.site == "onprem":
        _, slurmd, srun = slurm_ports(site.environment)
        yield ServiceFlow(ROLE.group, "tcp", slurmd, "slurmd forwards messages to on-prem nodes")
        yield ServiceFlow(ROLE.group, "tcp", srun, "tasks reach an srun inside a job")


ROLE = HostRole(
    group="slurm_node",
    place=50,
    members=lambda environment, served: [
        name for group in environment.node_groups for name in hostlist.expand(group.hosts)
    ],
    variables={
        "slurm_node": _variables,
        EVERYWHERE: lambda site: {"slurm_node_controllers": list(site.services.controllers)},
    },
    firewall=_firewall,
    from_aws=_from_aws,
)
