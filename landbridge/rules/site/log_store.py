"""Rules about the log store: its host, the retention of classes, and hosts whose logs are not in it."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.environment.observability import LogStore
from landbridge.findings import DataPath, Finding, did_you_mean, error, info, warning
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.services.log_store import classes_kept_in_aws, log_store_host, ships_cloud_logs
from landbridge.plan.roles.log_store import log_class
from landbridge.rules.registry import rule

_STORE: DataPath = ("onprem", "services", "logs")
_SETTINGS: DataPath = ("observability", "logs")


@rule
def logs_without_store(environment: Environment) -> Iterator[Finding]:
    """Settings of the log store need its host.

    Source: landbridge/plan/network/services/log_store.py.
    """
    if environment.observability.logs != LogStore() and not _is_named(environment):
        message = "the environment has no log store, so these settings are not used"
        yield error(_SETTINGS, message, fix="name a host in onprem.services.logs")


@rule
def log_store_of_an_existing_slurm(environment: Environment) -> Iterator[Finding]:
    """Logs are collected on sites that Landbridge configures: on another one it has no shipper on the hosts.

    Source: landbridge/plan/network/services/log_store.py.
    """
    if _is_named(environment) and log_store_host(environment) is None:
        message = "a site whose Slurm others configure gets no shippers, so no log store is configured"
        yield warning(_STORE, message, fix="remove the key: landbridge logs searches the hosts themselves")


@rule
def log_class_unknown(environment: Environment) -> Iterator[Finding]:
    """Retention of logs is set for data classes of the file.

    Source: landbridge/plan/roles/log_store.py.
    """
    for name in environment.observability.logs.classes:
        if name not in environment.data_classes:
            fix = did_you_mean(name, list(environment.data_classes))
            yield error((*_SETTINGS, "classes", name), f"there is no data class {name}", fix=fix)


@rule
def log_class_without_hosts(environment: Environment) -> Iterator[Finding]:
    """Retention of a class is used for hosts that have data of this class only: one journal has the logs of a whole host.

    Source: landbridge/plan/roles/log_store.py; systemd-journal-upload(8).
    """
    classes = environment.observability.logs.classes
    if log_store_host(environment) is None or not classes:
        return
    try:
        of_hosts = {log_class(environment, host) for host in hosts(environment)}
    except ValueError:
        return  # a host without an address, which another rule reports
    for name in classes:
        if name in environment.data_classes and name not in of_hosts:
            message = f"no host has data of class {name} only: its logs are kept by days and gib of observability.logs"
            yield info((*_SETTINGS, "classes", name), message)


@rule
def log_store_on_login_host(environment: Environment) -> Iterator[Finding]:
    """The log store is not on a host where users log in: its receiver listens on the loopback, where each user may write entries.

    Source: ansible/roles/log_store.
    """
    host = log_store_host(environment)
    if host is not None and environment.onprem is not None and host in environment.onprem.services.login:
        message = f"users log in on {host}, and can write entries of any host into the log store"
        yield warning(_STORE, message, fix="name another host, such as that of MLflow")


@rule
def logs_of_nodes_in_aws(environment: Environment) -> Iterator[Finding]:
    """Logs that the log store does not have are known: logs of nodes in AWS that do not ship end with the instance.

    Source: landbridge/plan/network/services/log_store.py.
    """
    if log_store_host(environment) is None or not environment.aws.pools or ships_cloud_logs(environment):
        return
    classes = classes_kept_in_aws(environment)
    if classes:
        why = f"data of class {classes[0]} may be in AWS only, and a node's log has output about every job that it runs"
        fix = None
    else:
        why = "their certificate is that of their metrics"
        fix = "name a host in onprem.services.monitoring"
    message = f"nodes in AWS ship no logs, so these end with the instance: {why}"
    yield info(("aws", "pools"), message, fix=fix, related=(_STORE,))


@rule
def log_store_in_images_of_others(environment: Environment) -> Iterator[Finding]:
    """Logs of nodes reach the log store if their image has the shipper: an image of others may lack it.

    Source: ansible/playbooks/node_image.yml.
    """
    if not ships_cloud_logs(environment):
        return
    for number, pool in enumerate(environment.aws.pools):
        source = environment.aws.images.get(pool.image or "")
        if source is None or source.build is None:
            message = f"Landbridge does not build the image {pool.image}: its nodes ship their logs only if it has the role log_shipper"
            yield info(("aws", "pools", number, "image"), message, related=(_STORE,))


def _is_named(environment: Environment) -> bool:
    return environment.onprem is not None and environment.onprem.services.logs is not None
