"""Rules about the ports and data classes of MLflow's servers."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import account_servers, main_class, mlflow_servers
from landbridge.plan.network.services.model_archive import archived_servers
from landbridge.plan.network.services.monitoring import timers_of
from landbridge.plan.network.services.serving import followed_services
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT
from landbridge.rules.registry import rule

_MLFLOW: DataPath = ("mlops", "mlflow")
_CLASSES: DataPath = ("data_classes", "*", "")
_ACCOUNTS: DataPath = ("scheduler", "accounts", "*", "data_class")
_OTHER_SERVICES = {
    22: "ssh",
    2049: "NFS",
    5432: "PostgreSQL",
    SLURMCTLD_PORT: "slurmctld",
    SLURMD_PORT: "slurmd",
    SLURMDBD_PORT: "slurmdbd",
}


@rule
def mlflow_ports(environment: Environment) -> Iterator[Finding]:
    """Servers of MLflow have ports that no other service has, and only classes with an own port are in ports.

    Every data class of an account has a server of its own on the MLflow host.
    Source: Landbridge (docs/explanation/models.md).
    """
    mlops, first = environment.mlops, main_class(environment)
    for name in mlops.mlflow.ports:
        path: DataPath = (*_MLFLOW, "ports", name)
        if name not in environment.data_classes:
            near = did_you_mean(name, environment.data_classes)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(environment.data_classes)}"
            yield error(path, f'unknown data class "{name}"', fix=fix, related=(_CLASSES,))
        elif name == first:
            fix = "write mlops.mlflow.port instead"
            yield error(path, f"{name} is the class of the first server", fix=fix, related=((*_MLFLOW, "data_class"),))
    registry = {mlops.registry.port: "the registry"} if mlops.registry is not None else {}
    used = {**_OTHER_SERVICES, **registry}
    for server in mlflow_servers(environment):
        if server.port in used and server.data_class != first:
            path = (*_MLFLOW, "ports", server.data_class)
            if server.data_class not in mlops.mlflow.ports:
                path = (*_MLFLOW, "port")
            message = (
                f"the port {server.port} of MLflow's server for {server.data_class} is used by {used[server.port]}"
            )
            fix = f"write mlops.mlflow.ports: {{{server.data_class}: PORT}}"
            related: tuple[DataPath, ...] = (_CLASSES, _ACCOUNTS, ("mlops", "registry", "port"))
            yield error(path, message, fix=fix, related=related)
        used.setdefault(server.port, f"that for {server.data_class}")


@rule
def account_without_mlflow(environment: Environment) -> Iterator[Finding]:
    """The data class of an account may be on MLflow's host: otherwise its jobs have no MLflow.

    Artifacts pass through this host, and the metrics and parameters of runs are in its database.
    Source: Landbridge (docs/explanation/models.md).
    """
    served = service_hosts(environment)
    for name, server in account_servers(environment).items():
        data_class = environment.data_classes.get(environment.scheduler.accounts[name].data_class)
        if server is None and data_class is not None and served.site not in data_class.sites:
            path: DataPath = ("scheduler", "accounts", name, "data_class")
            message = (
                f"data of class {environment.scheduler.accounts[name].data_class} may not be on {served.mlops}, MLflow's "
                f"host: jobs of {name} have no MLFLOW_TRACKING_URI"
            )
            related = (("data_classes", environment.scheduler.accounts[name].data_class, "sites"),)
            yield warning(
                path, message, fix="add the host's site to the class, or track its runs elsewhere", related=related
            )


@rule
def mlflow_in_clear_text(environment: Environment) -> Iterator[Finding]:
    """Clients of MLflow use TLS: HTTP Basic authentication sends the password with every request.

    Source: RFC 7617, section 4 (passwords in clear text without TLS).
    """
    if not environment.mlops.mlflow.tls:
        path: DataPath = (*_MLFLOW, "tls")
        message = "users' passwords for MLflow cross the network in clear text"
        yield warning(path, message, fix="remove the line; the role site_tls issues the certificates of the servers")


@rule
def model_archive(environment: Environment) -> Iterator[Finding]:
    """Registered models that are served have copies in a second region, if their data may be in AWS.

    A timer writes them into the bucket of their class, which S3 replicates. Source: Landbridge
    (docs/explanation/models.md).
    """
    timers, archived = timers_of(environment), {server.data_class for server in archived_servers(environment)}
    in_aws = {server.data_class for server in mlflow_servers(environment) if server.in_aws}
    hub_classes, without = environment.storage.data_hub.classes, set[str]()
    for name, service in followed_services(environment).items():
        data_class = service.data_class
        path: DataPath = ("serving", "services", name, "model")
        replica: DataPath = ("storage", "data_hub", "classes", data_class, "replica_region")
        settings = hub_classes.get(data_class)
        if data_class not in in_aws or data_class in archived | without:
            continue
        without.add(data_class)
        if settings is None or settings.replica_region is None:
            message = f"models of class {data_class} have no copy in a second region"
            fix = f"write storage.data_hub.classes.{data_class}: {{replica_region: REGION}}"
            yield warning(path, message, fix=fix, related=(replica,))
        else:
            message = f"no timer writes models of class {data_class} into the bucket that S3 replicates"
            fix = "write observability.timers: {}, or run landbridge model archive yourself"
            needs: tuple[DataPath, ...] = (("observability", "timers"), (*_MLFLOW, "tls"))
            yield warning(path, message, fix=fix, related=needs)
    if timers is not None and "archive_minutes" in timers.model_fields_set and not archived:
        message = "no models are archived: no MLflow server is of a data class with a replica"
        fix = "write storage.data_hub.classes.CLASS: {replica_region: REGION}, or remove the line"
        yield warning(("observability", "timers", "archive_minutes"), message, fix=fix)
