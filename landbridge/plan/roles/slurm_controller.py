"""Role slurm_controller: slurmctld on one host or a pair."""

from collections.abc import Iterator
from typing import Any

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.site.slurm_clients import (
    controller_networks,
    from_aws,
    login_networks,
    node_networks,
    other_clients,
)
from landbridge.plan.slurm_ports import slurm_ports


def controller_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of slurmctld's hosts."""
    from landbridge.plan.site.data_exchange import exchange_mounts
    from landbridge.plan.slurm.controller_pair import state_variables
    from landbridge.plan.slurm.files import slurm_files
    from landbridge.plan.slurm.jobs.accounts import accounts, capped, limited, qualities
    from landbridge.plan.slurm.jobs.prolog_epilog import PROGRAM as JOB_PROGRAM
    from landbridge.plan.slurm.reservations import reservations
    from landbridge.plan.slurm.restarts import restart_settings
    from landbridge.plan.slurm.sackd import has_accounting_storage, needs_sackd

    state = state_variables(environment)
    # A controller pair has a mount for its state already.
    mounts = [*state.pop("landbridge_controller_mounts", []), *exchange_mounts(environment)]
    return {
        "slurm_controller_files": slurm_files(environment),
        "slurm_controller_scripts": [JOB_PROGRAM],
        "slurm_controller_start_settings": restart_settings(environment, "slurmctld"),
        "slurm_controller_cluster": environment.name,
        **state,
        **({"landbridge_controller_mounts": mounts} if mounts else {}),
        "slurm_controller_database_host": service_hosts(environment).database
        if has_accounting_storage(environment)
        else "",
        "slurm_controller_sackd": needs_sackd(environment),
        "slurm_controller_accounts": accounts(environment),
        "slurm_controller_qos": qualities(environment),
        "slurm_controller_tres": limited(environment),
        "slurm_controller_monthly_qos": capped(environment),
        "slurm_controller_reservations": reservations(environment),
        "slurm_controller_first_save": slurm_releases()[environment.scheduler.slurm.version].needs_first_save,
    }


def _variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.slurm.jobs.data_lines import data_lines
    from landbridge.plan.slurm.nodes import pool_node_names
    from landbridge.plan.slurm.slurmrestd import token_variables

    environment = site.environment
    return {
        **controller_variables(environment),
        "slurm_controller_data_lines": data_lines(environment, site.outputs),
        # Debian's Slurm waits ten seconds for DNS on an unknown name, and slurmctld holds its locks in that time.
        "base_hosts_absent": [name for pool in environment.aws.pools for name in pool_node_names(pool)],
        **token_variables(environment),
    }


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    slurmctld, _, srun = slurm_ports(site.environment)
    database = site.networks((site.services.database,))
    clients = (*node_networks(site), *controller_networks(site), *login_networks(site), *database, *other_clients(site))
    why = "slurmd, sackd, slurmdbd and commands reach slurmctld"
    yield ROLE.group, tcp_rule((*clients, *from_aws(site, ROLE, slurmctld)), slurmctld, why)
    why = "tasks reach the srun that an operator started"
    yield ROLE.group, tcp_rule((*node_networks(site), *from_aws(site, ROLE, srun)), srun, why)


def _from_aws(site: Site) -> Iterator[ServiceFlow]:
    slurmctld, _, srun = slurm_ports(site.environment)
    yield ServiceFlow(ROLE.group, "tcp", slurmctld, "slurmd and commands reach slurmctld")
    if site.services.site == "onprem":
        yield ServiceFlow(ROLE.group, "tcp", srun, "tasks reach the srun that an operator started")
    elif not site.services.logins:
        # Without login hosts users submit from the controller.
        yield ServiceFlow(ROLE.group, "tcp", srun, "tasks reach the srun that started them")


ROLE = HostRole(
    group="slurm_controller",
    place=10,
    members=lambda environment, served: served.controllers,
    variables={"slurm_controller": _variables},
    firewall=_firewall,
    from_aws=_from_aws,
    exporters={"jobs": lambda site: True},
)
