"""Role site_timers: timers on the first controller."""

from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import MAIN, mlflow_servers
from landbridge.plan.network.services.model_archive import archived_servers
from landbridge.plan.network.services.monitoring import compares_training, timers_of
from landbridge.plan.roles.burst import credentials_file
from landbridge.plan.roles.hosts.host_access import (
    ACCOUNT,
    FOLDER,
    GATEWAYS_KEY,
    NODES_KEY,
    environment_file,
    timer_host,
)
from landbridge.plan.roles.hosts.roles_anywhere import ARCHIVE_ACCOUNT, archive_file
from landbridge.plan.site.site_tls import AUTHORITY_FILE

#: Account of Slurm's daemons, which administers Slurm and reads the burst journal; and the account of netcheck.
SLURM, LINK = "slurm", "landbridge-link"
#: Most memory of a pass that archives models: an ONNX file, smaller than 2 GiB, is in memory while its fields are examined; the program and
#: the parts of an upload need less than 0.5 GiB, measured with safetensors (docs/explanation/models.md). Landbridge's choice.
_ARCHIVE_MEMORY = "3G"


def site_timers_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return the role site_timers' variables for the first controller; empty for other hosts."""
    from landbridge.plan.site.link.expectations import gateway_hosts

    settings, served = timers_of(environment), service_hosts(environment)
    if settings is None or host != timer_host(environment):
        return {}
    file, timers = environment_file(environment), []
    if environment.node_groups:
        timers += [
            _timer("health", settings.health_minutes, SLURM, NODES_KEY, ["health", "step", "--run"]),
            _timer("idle", settings.idle_minutes, SLURM, NODES_KEY, ["idle", "step", "--run"]),
        ]
    if environment.link is not None and gateway_hosts(environment):
        timers.append(_timer("link", settings.link_minutes, LINK, GATEWAYS_KEY, ["netcheck"]))
    servers = [
        {
            "name": server.name,
            "uri": f"{'https' if environment.mlops.mlflow.tls else 'http'}://{served.mlops}:{server.port}",
            "secret": "mlflow-admin" + ("" if server.name == "mlflow" else f"-{server.data_class}"),
        }
        for server in mlflow_servers(environment)
    ]
    if compares_training(environment):
        words = ["sagemaker", "sync"]
        timer = _timer("sagemaker", settings.sagemaker_minutes, SLURM, "", words)
        timers.append(timer | {"journal": True, "credentials_file": credentials_file(environment) or ""})
    for server in servers:
        name = _name("cost", server["name"])
        words = ["cost", "tag", "--tracking-uri", server["uri"]]
        timers.append(
            _timer(name, settings.cost_minutes, SLURM, "", words) | {"server": server["name"], "journal": True}
        )
    for archived in archived_servers(environment):
        uri = next(server["uri"] for server in servers if server["name"] == archived.name)
        words = ["model", "archive", "--class", archived.data_class, "--tracking-uri", uri, "--trust", AUTHORITY_FILE]
        timer = _timer(_name("archive", archived.name), settings.archive_minutes, ARCHIVE_ACCOUNT, "", words)
        timer |= {"server": archived.name, "credentials_file": archive_file(environment) or ""}
        timers.append(timer | {"python": "timers-archive", "memory": _ARCHIVE_MEMORY})
    return {
        "site_timers_timers": timers,
        "site_timers_environment": environment.name,
        "site_timers_environment_file": file,
        "site_timers_account": ACCOUNT,
        "site_timers_port": served.access.port,
        "site_timers_hosts": _addresses(environment),
        "site_timers_folder": FOLDER,
        "site_timers_servers": servers,
        "site_timers_authority": AUTHORITY_FILE if environment.mlops.mlflow.tls else "",
        "site_timers_find_links": served.packages.python_find_links or "",
    }


def _name(timer: str, server: str) -> str:
    """Return the name of a timer of an MLflow server; the first server's name has no suffix."""
    return timer if server == MAIN else f"{timer}-{server}"


def _timer(name: str, minutes: int, user: str, key: str, words: list[str]) -> dict[str, Any]:
    return {"name": name, "minutes": minutes, "user": user, "key": key, "words": words}


def _addresses(environment: Environment) -> dict[str, str]:
    """Return the address of each host that the timers ask by ssh."""
    from landbridge.plan.site.link.expectations import link_expectations

    addresses = environment.host_addresses()
    nodes = {name: addresses[name] for group in environment.node_groups for name in hostlist.expand(group.hosts)}
    if environment.link is None:
        return nodes
    return nodes | {gateway.host: gateway.address for gateway in link_expectations(environment, None).gateways}


ROLE = HostRole(
    host_variables=lambda site, host: site_timers_variables(site.environment, host.name),
    exporters={
        "timers": lambda site: timers_of(site.environment) is not None,
        "first_steps": lambda site: timers_of(site.environment) is not None,
    },
)
