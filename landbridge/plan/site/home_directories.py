"""Where home directories are, and how hosts mount them."""

from typing import Any

from landbridge.environment import Environment, ExternalNfsHome, NfsHome
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.outputs import FileSystemOutput, StackOutputs

#: The name of the homes among the stack's file systems.
SHARE = "home"
#: Where accounts of a host's own, such as the one that Ansible logs in with, have their homes once others are mounted over them.
LOCAL_HOMES = "/var/lib/landbridge/homes"


def home_mounts(environment: Environment, outputs: StackOutputs | None) -> list[dict[str, Any]]:
    """What every client mounts, as the role nfs_client takes it. A file system of AWS's has a name once it is built."""
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
    """What the host that exports the homes mounts instead: its own folder, where every other host has it."""
    home = environment.storage.home
    if not isinstance(home, NfsHome) or home.export == home.mount:
        return []
    return [{"export": home.export, "mount": home.mount}]


def share_mounts(environment: Environment, outputs: StackOutputs | None) -> list[dict[str, Any]]:
    """What login hosts in AWS mount besides homes, as the role nfs_client takes it: what their jobs see, but for Lustre.

    Nothing before it is built, and nothing on a site: what is in AWS is mounted in AWS.
    """
    if environment.aws.services is None or outputs is None:
        return []
    found = outputs.file_systems.items()
    return [_built(one, one.mount) for name, one in found if name != SHARE and one.kind != "fsx_lustre"]


def _built(one: FileSystemOutput, mount: str) -> dict[str, Any]:
    server, _, export = one.source.partition(":")
    return {"server": server, "export": export, "mount": mount, "options": f"{one.options},nosuid,nodev"}


def aws_home_variables(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """What clients make in homes that no host of ours exports: a folder for each user. Nothing before they are mounted."""
    home = environment.storage.home
    if isinstance(home, NfsHome | ExternalNfsHome) or not home_mounts(environment, outputs):
        return {}
    return {
        "nfs_client_homes": [{"path": f"{home.mount}/{user.name}", "owner": user.uid} for user in environment.users],
        "mlflow_clients_home_root": home.mount,
    }
