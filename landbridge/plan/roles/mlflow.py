"""Role mlflow: MLflow's servers, and the variables of jobs that use them."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from landbridge.environment import Environment, NfsHome
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.firewall_rule import FirewallRule, without_overlaps
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.network.services.mlflow_servers import (
    MlflowServer,
    account_servers,
    mlflow_servers,
    tracking_uri,
)
from landbridge.plan.network.services.serving import SERVING_ACCOUNT, followed_services
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.resource_names import BACKUPS_PREFIX
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE, mlflow_host_names
from landbridge.plan.site.teams.workspaces import account_workspace, workspaces

if TYPE_CHECKING:
    from landbridge.plan.outputs import StackOutputs

_TRACKING_URI = "MLFLOW_TRACKING_URI"
#: CA certificates of MLflow's client alone: other clients of the job keep the system's. Source: MLflow documentation, "Security".
_CA_FILE = "MLFLOW_TRACKING_SERVER_CERT_PATH"
#: Workspace of MLflow's client. Source: MLflow 3.17.2, environment_variables.py.
_WORKSPACE = "MLFLOW_WORKSPACE"
#: Otherwise MLflow's client reports its use to its developers, also from jobs with data of a restricted class. Source: MLflow documentation, "Usage tracking".
_NO_TELEMETRY = {"MLFLOW_DISABLE_TELEMETRY": "true"}


def mlflow_variables(environment: Environment, outputs: "StackOutputs | None") -> dict[str, Any]:
    """Return the variables of the role mlflow. The servers are absent until the buckets of their classes are known."""
    from landbridge.plan.roles.hosts.roles_anywhere import mlflow_files

    credentials_files = mlflow_files(environment)
    variables: dict[str, Any] = {
        "mlflow_find_links": service_hosts(environment).packages.python_find_links or "",
        "mlflow_host_names": mlflow_host_names(environment),
        "mlflow_region": environment.region,
        "mlflow_s3_endpoint": aws_endpoint(environment) or "",
        "mlflow_fips": fips_endpoints(environment, "onprem" if environment.onprem is not None else "cloud"),
    }
    if environment.mlops.mlflow.tls:
        variables |= {"mlflow_certificate": HOST_FILE, "mlflow_authority": AUTHORITY_FILE}
    servers = mlflow_servers(environment)
    if outputs is not None or not any(server.in_aws for server in servers):
        variables["mlflow_servers"] = [
            {**_server(environment, server, outputs), "credentials_file": credentials_files.get(server.name, "")}
            for server in servers
        ]
    return variables


def tracking_variables(environment: Environment) -> dict[str, str]:
    """Return the variables of sessions; empty for a Slurm that runs already, which has no MLflow of Landbridge."""
    return {} if environment.existing_slurm is not None else _client(environment, tracking_uri(environment))


def job_variables(environment: Environment) -> dict[str, dict[str, str]]:
    """Return the environment variables of each account's jobs; an empty value is a variable that its jobs do not have.
    The account with an empty name is for jobs without an account, which have no workspace.
    """
    if environment.existing_slurm is not None:
        return {}
    variables = {
        "": _client(environment, tracking_uri(environment)),
        **{
            account: _client(environment, tracking_uri(environment, server) if server is not None else "")
            for account, server in account_servers(environment).items()
        },
    }
    if environment.mlops.teams:
        for account, values in variables.items():
            values[_WORKSPACE] = account_workspace(environment, account) if values[_TRACKING_URI] else ""
    return variables


def _client(environment: Environment, uri: str) -> dict[str, str]:
    """Return the variables of MLflow's client for a server; empty values for no server."""
    if not environment.mlops.mlflow.tls:
        return {_TRACKING_URI: uri, **_NO_TELEMETRY}
    return {_TRACKING_URI: uri, _CA_FILE: AUTHORITY_FILE if uri else "", **_NO_TELEMETRY}


def _server(environment: Environment, server: MlflowServer, outputs: "StackOutputs | None") -> dict[str, Any]:
    # Outputs are present if the server is in AWS.
    root, backups = f"/var/lib/{server.name}/artifacts", ""
    if server.in_aws and outputs is not None:
        bucket = f"s3://{outputs.data_hub.buckets[server.data_class].name}"
        root, backups = f"{bucket}/mlflow", f"{bucket}/{BACKUPS_PREFIX}/mlflow"
    followed = [each for each in followed_services(environment).values() if each.data_class == server.data_class]
    return {
        "name": server.name,
        "database": server.database,
        "users_database": server.users_database,
        "data_class": server.data_class,
        "port": server.port,
        "uri": tracking_uri(environment, server),
        "artifacts_destination": root,
        "backups": backups,
        "users": [*server.users, *([SERVING_ACCOUNT] if followed else [])],
        # Those of a team are in its workspace, with their rights.
        "served_models": sorted({each.model for each in followed if each.canary and each.canary.team is None}),
        "sources": [str(network) for network in server.sources],
        **_teams(environment, server.data_class),
    }


def _teams(environment: Environment, data_class: str) -> dict[str, Any]:
    """Return the variable with the workspaces; without teams the server has none, and its variables are as before."""
    listed = [asdict(workspace) for workspace in workspaces(environment, data_class)]
    return {"workspaces": listed} if environment.mlops.teams else {}


def _home_root(site: Site) -> dict[str, Any]:
    """Return the folder of the homes that get credentials, on the host that exports them."""
    home = site.environment.storage.home
    return {"mlflow_clients_home_root": home.export} if isinstance(home, NfsHome) else {}


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    """Yield the rules of the servers: a server of data that must stay on-prem is not open to AWS."""
    site_range = (str(site.services.cidr),)
    everywhere = (*site_range, *map(str, aws_ranges(site.environment)))
    for clients, in_aws in ((everywhere, True), (site_range, False)):
        ports = tuple(str(server.port) for server in mlflow_servers(site.environment) if server.in_aws is in_aws)
        if ports:
            where = "" if in_aws else " with data that must stay on-prem"
            why = f"jobs and users reach MLflow{where}"
            yield ROLE.group, FirewallRule(without_overlaps(clients), "tcp", ports, why)


def _from_aws(site: Site) -> Iterator[ServiceFlow]:
    for server in mlflow_servers(site.environment):
        if server.in_aws:
            why = f"jobs reach MLflow's server of class {server.data_class}"
            yield ServiceFlow(ROLE.group, "tcp", str(server.port), why)


ROLE = HostRole(
    group="mlflow",
    place=110,
    members=lambda environment, served: (served.mlops,),
    variables={
        "mlflow": lambda site: mlflow_variables(site.environment, site.outputs),
        "nfs_server": _home_root,
        EVERYWHERE: lambda site: {"slurm_job_environment_accounts": job_variables(site.environment)},
    },
    firewall=_firewall,
    from_aws=_from_aws,
    exporters={"postgresql": lambda site: site.has("mlflow")},
)
