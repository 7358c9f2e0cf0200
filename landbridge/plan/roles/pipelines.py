"""Role pipelines: the service of pipelines with its configuration."""

import re
from collections.abc import Iterator
from typing import Any

from landbridge import hostlist
from landbridge.catalog.slurm.submission import slurm_submission
from landbridge.environment import Environment
from landbridge.environment.pipelines import Pipelines
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import account_servers, tracking_uri
from landbridge.plan.network.services.pipelines import pipelines_of
from landbridge.plan.site.data_exchange import data_staging
from landbridge.plan.site.site_tls import AUTHORITY_FILE
from landbridge.plan.site.slurm_clients import controller_networks
from landbridge.plan.site.teams.workspaces import account_workspace
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
from landbridge.plan.slurm_ports import slurm_ports


def pipelines_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of the role pipelines, without secrets; empty without pipelines."""
    settings = pipelines_of(environment)
    if settings is None:
        return {}
    return {
        "pipelines_config": pipelines_config(environment, settings),
        "pipelines_find_links": service_hosts(environment).packages.python_find_links or "",
    }


def pipelines_config(environment: Environment, settings: Pipelines) -> dict[str, Any]:
    """Return the service's configuration as plain data (landbridge/pipelines/service/config.py reads it)."""
    facts, accounts = slurm_submission(), environment.scheduler.accounts
    return {
        "accounts": {name: account.data_class for name, account in sorted(accounts.items())},
        "owners": sorted({user for account in accounts.values() for user in account.users}),
        "datasets": _datasets(environment, settings),
        "rates": list(_rates(environment)),
        "settle_seconds": facts.settle_seconds(_credential_seconds(environment)),
        "sbatch_seconds": facts.sbatch_seconds.value,
        "unknown_results": list(facts.unknown_results),
        "interval_seconds": settings.interval_seconds,
        "live_runs": settings.live_runs,
        "registries": _registries(environment),
    }


def _registries(environment: Environment) -> dict[str, dict[str, str]]:
    """Return the MLflow server of each account that has one, from which events of models are read."""
    authority = AUTHORITY_FILE if environment.mlops.mlflow.tls else ""
    return {
        account: {
            "uri": tracking_uri(environment, server),
            "authority": authority,
            "workspace": account_workspace(environment, account),
        }
        for account, server in sorted(account_servers(environment).items())
        if server is not None
    }


def _datasets(environment: Environment, settings: Pipelines) -> dict[str, str]:
    """Return the folder of each data class: the staging folder where the mount of the homes contains it, or the stated one."""
    staging, root = data_staging(environment), environment.storage.home.mount.rstrip("/")
    staged = {}
    if staging is not None and staging.mount.startswith(f"{root}/"):
        staged = {name: f"{staging.mount.rstrip('/')}/{name}" for name in environment.data_classes}
    return dict(sorted({**staged, **settings.datasets}.items()))


def _rates(environment: Environment) -> Iterator[dict[str, Any]]:
    """Yield the known rates of nodes: one row for the equal nodes of a group."""
    from landbridge.plan.cost.job_cost import node_hour_usd

    for nodes in (*onprem_nodes(environment), *cloud_nodes(environment)):
        rate = node_hour_usd(environment, nodes.names[0]) if nodes.names else None
        if rate is not None and rate.usd is not None:
            row = {"nodes": hostlist.compress(nodes.names), "usd_hour": round(rate.usd, 4), "gpus": nodes.gpu_count}
            yield row


def _credential_seconds(environment: Environment) -> int | None:
    """Return the lifetime of credentials that the site's AuthInfo states; None for the default."""
    for key, value in environment.scheduler.overrides.slurm_conf.items():
        matched = re.search(r"(?:^|[,\s])ttl=(\d+)", str(value)) if key.casefold() == "authinfo" else None
        if matched is not None:
            return int(matched[1])
    return None


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    if pipelines_of(site.environment) is not None and site.networks((site.services.mlops,)):
        slurmd = slurm_ports(site.environment)[1]
        yield ROLE.group, tcp_rule(controller_networks(site), slurmd, "slurmctld sends new configuration to sackd")


ROLE = HostRole(
    group="pipelines",
    place=170,
    members=lambda environment, served: (served.mlops,) if pipelines_of(environment) is not None else (),
    has_slurm_commands=True,
    variables={"pipelines": lambda site: pipelines_variables(site.environment)},
    firewall=_firewall,
    # Also where users run pipelines without the service.
    exporters={"pipelines": lambda site: True},
)
