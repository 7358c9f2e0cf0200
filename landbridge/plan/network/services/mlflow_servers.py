"""MLflow tracking servers: one for each data class, with its port, its users and the networks of its clients.

A server of MLflow has one artifact store (`--artifacts-destination`) for all its experiments and workspaces, and every
user who may read an experiment may download its artifacts through it. Therefore a data class has a server of its own:
another port, Unix account, database, artifact store and list of users.
Source: MLflow 3.17.2, server/handlers.py, _get_artifact_repo_mlflow_artifacts and
_get_workspace_scoped_repo_path_if_enabled (read 2026-11-25).
"""

import hashlib
from dataclasses import dataclass
from ipaddress import IPv4Network, collapse_addresses

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.other_regions import aws_ranges

#: Name of the first server: its unit, Unix account, database role and database.
MAIN = "mlflow"
#: Ports of the other servers start here above the first server's, in the order of `data_classes`.
PORT_OFFSET = 10
#: Source: useradd(8), the maximum length of a user name.
_NAME_LENGTH = 32


@dataclass(frozen=True, slots=True)
class MlflowServer:
    """MLflow server of a data class. `name` is that of its unit, Unix account and database role.

    `in_aws`: its artifacts are in the class's bucket, otherwise in a directory on its host. `sources`: the only networks
    that may connect; empty: any.
    """

    name: str
    data_class: str
    port: int
    in_aws: bool
    users: tuple[str, ...]
    sources: tuple[IPv4Network, ...]

    @property
    def database(self) -> str:
        """Return the name of the database of runs. PostgreSQL's limit for a name is 63 characters."""
        return MAIN if self.name == MAIN else f"{MAIN}_class_{self._suffix}"

    @property
    def users_database(self) -> str:
        """Return the name of the database of users and permissions."""
        return f"{MAIN}_auth" if self.name == MAIN else f"{MAIN}_users_{self._suffix}"

    @property
    def _suffix(self) -> str:
        # A data class has no underscore, so that two classes have different suffixes.
        return self.data_class.replace("-", "_")


def main_class(environment: Environment) -> str | None:
    """Return the data class of the first server: as configured, else the first class that may be in AWS and on the
    server's host, else the first that may be on the host; None without one.
    """
    permitted = _permitted(environment)
    chosen = environment.mlops.mlflow.data_class
    if chosen is not None:
        return chosen if chosen in permitted else None
    in_aws = [name for name in permitted if "aws" in environment.data_classes[name].sites]
    return next(iter([*in_aws, *permitted]), None)


def artifact_class(environment: Environment) -> str | None:
    """Return the data class of the first server's artifacts if they are in AWS, else None."""
    chosen = main_class(environment)
    return chosen if chosen is not None and "aws" in environment.data_classes[chosen].sites else None


def mlflow_servers(environment: Environment) -> tuple[MlflowServer, ...]:
    """Return the servers of the first class and of every other class of an account, in the order of `data_classes` after
    the first. A class that may not be on the server's host has none, and a Slurm that runs already has no server.
    """
    if environment.existing_slurm is not None:
        return ()
    first, permitted = main_class(environment), _permitted(environment)
    classes = {account.data_class for account in environment.scheduler.accounts.values()}
    ordered = [first, *(name for name in permitted if name in classes and name != first)]
    return tuple(_server(environment, name, name == first) for name in ordered if name is not None)


def account_servers(environment: Environment) -> dict[str, MlflowServer | None]:
    """Return the server of each Slurm account; None for an account whose data class has no server."""
    by_class = {server.data_class: server for server in mlflow_servers(environment)}
    return {name: by_class.get(account.data_class) for name, account in environment.scheduler.accounts.items()}


def tracking_uri(environment: Environment, server: MlflowServer | None = None) -> str:
    """Return the tracking URI of a server, or of the first one."""
    port = environment.mlops.mlflow.port if server is None else server.port
    scheme = "https" if environment.mlops.mlflow.tls else "http"
    return f"{scheme}://{service_hosts(environment).mlops}:{port}"


def mlflow_port(environment: Environment, data_class: str) -> int:
    """Return the port of a class's server. It depends on no other class's accounts, so that it rarely changes."""
    mlflow = environment.mlops.mlflow
    if data_class == main_class(environment):
        return mlflow.port
    position = list(environment.data_classes).index(data_class)
    return mlflow.ports.get(data_class, mlflow.port + PORT_OFFSET + position)


def _server(environment: Environment, data_class: str, is_main: bool) -> MlflowServer:
    in_aws = "aws" in environment.data_classes[data_class].sites
    return MlflowServer(
        name=MAIN if is_main else server_name(data_class),
        data_class=data_class,
        port=mlflow_port(environment, data_class),
        in_aws=in_aws,
        users=_users(environment, data_class),
        sources=() if in_aws else onprem_sources(environment),
    )


def server_name(data_class: str) -> str:
    """Return the name of a class's server other than the first: a long name is shortened, and stays unique by its hash."""
    name = f"{MAIN}-{data_class}"
    if len(name) <= _NAME_LENGTH:
        return name
    digest = hashlib.sha256(data_class.encode()).hexdigest()[:6]
    return f"{name[: _NAME_LENGTH - 7]}-{digest}"


def onprem_sources(environment: Environment) -> tuple[IPv4Network, ...]:
    """Return the networks from which clients may reach data that must stay on-prem: the site, and the sources of the
    environment's own firewall rules for MLflow that have no address in AWS.
    """
    served, in_aws = service_hosts(environment), aws_ranges(environment)
    extra = [rule.source for rule in environment.hosts.firewall.rules if rule.at in ("mlflow", served.mlops)]
    outside = [network for network in extra if not any(network.overlaps(cidr) for cidr in in_aws)]
    return tuple(collapse_addresses([served.cidr, *outside]))


def _permitted(environment: Environment) -> list[str]:
    """Return the classes that may be on the server's host: it stores their metadata, and artifacts pass through it."""
    site = service_hosts(environment).site
    return [name for name, data_class in environment.data_classes.items() if site in data_class.sites]


def _users(environment: Environment, data_class: str) -> tuple[str, ...]:
    """Return the users of the class's accounts; without any account in the file, all users."""
    accounts = environment.scheduler.accounts.values()
    if not accounts:
        return tuple(user.name for user in environment.users)
    return tuple(sorted({user for account in accounts if account.data_class == data_class for user in account.users}))
