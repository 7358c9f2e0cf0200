"""Rules about the site's object store."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.object_store import store_buckets, store_port
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT
from landbridge.rules.registry import rule

_STORE: DataPath = ("storage", "object_store")
_HOST: DataPath = ("onprem", "services", "object_store")
_SITE: tuple[DataPath, ...] = (("onprem",),)
_USED_PORTS = {
    22: "ssh",
    111: "NFS",
    2049: "NFS",
    3306: "MariaDB",
    5432: "PostgreSQL",
    SLURMCTLD_PORT: "slurmctld",
    SLURMD_PORT: "slurmd",
    SLURMDBD_PORT: "slurmdbd",
}


@rule
def object_store_place(environment: Environment) -> Iterator[Finding]:
    """An object store has a site that Landbridge configures, a host of its own choice only with a store, and a class on-prem.

    Source: Landbridge (docs/explanation/storage.md).
    """
    if environment.storage.object_store is None:
        if environment.onprem is not None and environment.onprem.services.object_store is not None:
            message = "services.object_store names a host, and there is no object store"
            yield warning(_HOST, message, fix="add storage.object_store: {}, or remove it", related=(_STORE,))
    elif environment.onprem is None:
        message = "there is no site, so nothing runs the object store: in AWS the data hub has the buckets"
        yield error(_STORE, message, fix="remove it", related=_SITE)
    elif environment.existing_slurm is not None:
        message = (
            "Landbridge does not configure the hosts of this site, whose Slurm was adopted: it installs no object store"
        )
        related: tuple[DataPath, ...] = (("onprem", "existing_slurm"),)
        yield error(
            _STORE, message, fix="remove it, and use the role object_store in your own playbook", related=related
        )
    elif not store_buckets(environment):
        message = "no data class may be on-prem, so that the object store has no bucket"
        yield error(_STORE, message, fix="remove it", related=(("data_classes", "*", "sites"),))


@rule
def object_store_port(environment: Environment) -> Iterator[Finding]:
    """The object store has a port that no other service of its host uses.

    Source: IANA's port numbers; Slurm's defaults; MLflow's ports of this file.
    """
    served = service_hosts(environment)
    if environment.storage.object_store is None or served.object_store is None:
        return
    used = dict(_USED_PORTS)
    if served.object_store == served.mlops:
        used |= {server.port: f"MLflow's server for {server.data_class}" for server in mlflow_servers(environment)}
        if environment.mlops.registry is not None:
            used[environment.mlops.registry.port] = "the registry"
    if served.object_store == served.logins[0] and environment.scheduler.rest is not None:
        used[environment.scheduler.rest.port] = "slurmrestd"
    port = store_port(environment)
    if port in used:
        path: DataPath = (*_STORE, "port") if environment.storage.object_store.port is not None else _STORE
        message = f"port {port} of {served.object_store} is used by {used[port]}"
        yield error(path, message, fix="write another port", related=(("mlops", "mlflow", "port"), _HOST))


@rule
def object_store_replicate(environment: Environment) -> Iterator[Finding]:
    """Only data classes that may be at both sites are replicated, with credentials of IAM Roles Anywhere.

    Source: Landbridge (docs/decisions/0006-data.md, docs/explanation/storage.md).
    """
    settings = environment.storage.object_store
    if settings is None:
        return
    path: DataPath = (*_STORE, "replicate")
    for index, name in enumerate(settings.replicate):
        data_class = environment.data_classes.get(name)
        if data_class is None:
            near = did_you_mean(name, environment.data_classes)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(environment.data_classes)}"
            related: tuple[DataPath, ...] = (("data_classes", "*", ""),)
            yield error((*path, index), f'unknown data class "{name}"', fix=fix, related=related)
        elif set(data_class.sites) != {"onprem", "aws"}:
            message = f"data of class {name} may be at one site only ({data_class.sites[0]}): it is never replicated"
            yield error((*path, index), message, fix="remove it", related=(("data_classes", name, "sites"),))
    if (
        settings.replicate
        and environment.onprem is not None
        and (environment.aws.iam.anywhere is None or environment.onprem.aws_credentials is not None)
    ):
        message = (
            "the copies to AWS have no credentials: the host of the object store gets them from IAM Roles Anywhere only"
        )
        fix = "write aws.iam.anywhere, and no onprem.aws_credentials; or remove replicate"
        related = (("aws", "iam", "anywhere"), ("onprem", "aws_credentials"))
        yield error(path, message, fix=fix, related=related)
