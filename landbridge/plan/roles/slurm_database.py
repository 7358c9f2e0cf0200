"""Role slurm_database: slurmdbd and its database, on the same host or in RDS."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from landbridge.environment import Environment
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.log_store import log_store_host
from landbridge.plan.site.slurm_clients import controller_networks, login_networks, node_networks, other_clients
from landbridge.plan.slurm_ports import SLURMDBD_PORT

if TYPE_CHECKING:
    from landbridge.plan.outputs import StackOutputs


def database_variables(environment: Environment, outputs: "StackOutputs | None") -> dict[str, Any]:
    """Return the variables of slurmdbd and its database. The address of RDS is known once it exists."""
    variables: dict[str, Any] = {"slurm_database_host": service_hosts(environment).database}
    if log_store_host(environment) is not None:
        variables["slurm_database_settings"] = {"DebugLevelSyslog": "info"}
    if outputs is not None and outputs.services is not None:
        database = outputs.services.database
        variables |= {
            "slurm_database_server": database.address,
            "slurm_database_server_port": database.port,
            "slurm_database_admin": database.user,
            "slurm_database_admin_secret": database.secret_arn,
            "slurm_database_region": environment.region,
            "slurm_database_endpoint": aws_endpoint(environment) or "",
            "slurm_database_fips": fips_endpoints(environment, "cloud"),
        }
    return variables


def _variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.slurm.slurmrestd import token_variables

    return {**database_variables(site.environment, site.outputs), **token_variables(site.environment)}


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    clients = (*controller_networks(site), *login_networks(site), *node_networks(site), *other_clients(site))
    yield ROLE.group, tcp_rule(clients, SLURMDBD_PORT, "slurmctld, sacct and sacctmgr reach slurmdbd")


ROLE = HostRole(
    group="slurm_database",
    place=20,
    members=lambda environment, served: (served.database,),
    variables={"slurm_database": _variables},
    firewall=_firewall,
    exporters={"mariadb": lambda site: site.has("slurm_database")},
)
