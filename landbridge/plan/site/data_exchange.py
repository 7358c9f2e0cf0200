"""Exchange of the burst controllers and the mover: a folder that the storage host exports to the controllers only.

Reports and requests are small and may be lost: a soft mount lets the controller go on while the storage host is down.
"""

from typing import Any

from landbridge.environment import DataStaging, Environment, NfsHome
from landbridge.plan.network.hosts import service_hosts

#: Folder on the storage host, and its mount point on the controllers.
EXPORT, EXCHANGE = "/export/landbridge-mover", "/var/lib/landbridge-mover"
OPTIONS = "vers=4.2,soft,timeo=50,retrans=2,nosuid,nodev,noexec"


def data_staging(environment: Environment) -> DataStaging | None:
    """Return the settings if jobs may state data: our storage host exports the homes, Slurm is ours, and has accounts."""
    is_possible = (
        environment.onprem is not None
        and environment.existing_slurm is None
        and isinstance(environment.storage.home, NfsHome)
        and bool(environment.scheduler.accounts and environment.aws.pools)
    )
    return environment.storage.staging if is_possible else None


def exchange_folder(environment: Environment) -> str:
    """Return the folder of the exchange on the controllers."""
    served = service_hosts(environment)
    return f"{EXPORT if served.storage in served.controllers else EXCHANGE}/{environment.name}"


def exchange_export(environment: Environment, owner: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the role nfs_server's export and folder; empty without staging. `owner`: the uid of the burst controller."""
    served = service_hosts(environment)
    if data_staging(environment) is None:
        return [], []
    folders = [{"path": f"{EXPORT}/{environment.name}", "owner": owner}]
    clients = [
        str(served.addresses[name])
        for name in served.controllers
        if name in served.addresses and name != served.storage
    ]
    return ([{"path": EXPORT, "clients": clients, "root_squash": True}] if clients else []), folders


def exchange_mounts(environment: Environment) -> list[dict[str, Any]]:
    """Return the controllers' mount of the exchange; empty without staging, and on a controller that is the storage host."""
    served = service_hosts(environment)
    if data_staging(environment) is None or served.storage in served.controllers:
        return []
    return [{"server": served.storage, "export": EXPORT, "mount": EXCHANGE, "options": OPTIONS}]
