"""Home directories: their file system, and the mounts of each group of hosts."""

from typing import Any

from landbridge.environment import Environment, ExternalNfsHome, NfsHome
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.outputs import FileSystemOutput, StackOutputs

#: The name of the homes among the stack's file systems.
SHARE = "home"
#: Where accounts of a host's own, such as the one that Ansible logs in with, have their homes once others are mounted over them.
LOCAL_HOMES = "/var/lib/landbridge/homes"


def home_mounts(environment: Environment, outputs: StackOutputs | None) -> list[dict[str, Any]]:
    """Return the clients' mounts for the role nfs_client. A file system in AWS has a DNS name only once it is built."""
    home = environment.storage.home
    if isinstance(home, NfsHome):
        return [{"server": service_hosts(environment).storage, "export": home.export, "mount": home.mount}]
    if isinstance(home, ExternalNfsHome):
        return [{"server": home.host, "export": home.export, "mount": home.mount, "options": home.options}]
    built = outputs.file_systems.get(SHARE) if outputs is not None else None
    if built is None:
        return []
    return [_built(built, home.mount)]


def nfs_server_mounts(environment: Environment) -> list[dict[str, Any]]:
    """Return the NFS server's bind mount: its exported folder at the path where clients mount it."""
    home = environment.storage.home
    if not isinstance(home, NfsHome) or home.export == home.mount:
        return []
    return [{"export": home.export, "mount": home.mount}]


def share_mounts(environment: Environment, outputs: StackOutputs | None) -> list[dict[str, Any]]:
    """Return the mounts of login hosts in AWS besides homes, for the role nfs_client: the jobs' shares except Lustre.

    Nothing before it is built, and nothing on a site: what is in AWS is mounted in AWS.
    """
    if environment.aws.services is None or outputs is None:
        return []
    file_systems = outputs.file_systems.items()
    return [
        _built(file_system, file_system.mount)
        for name, file_system in file_systems
        if name != SHARE and file_system.kind != "fsx_lustre"
    ]


def _built(file_system: FileSystemOutput, mount: str) -> dict[str, Any]:
    server, _, export = file_system.source.partition(":")
    return {"server": server, "export": export, "mount": mount, "options": f"{file_system.options},nosuid,nodev"}


def aws_home_variables(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """Return the variables that create a home folder for each user on a file system in AWS; empty before it is mounted."""
    home = environment.storage.home
    if isinstance(home, NfsHome | ExternalNfsHome) or not home_mounts(environment, outputs):
        return {}
    return {
        "nfs_client_homes": [{"path": f"{home.mount}/{user.name}", "owner": user.uid} for user in environment.users],
        "mlflow_clients_home_root": home.mount,
    }
