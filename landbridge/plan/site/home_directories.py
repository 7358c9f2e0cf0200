"""Home directories: their file system, and the mounts of each group of hosts."""

from typing import Any

from landbridge.environment import Environment, ExternalNfsHome, NfsHome
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.other_regions import vpc_ranges
from landbridge.plan.outputs import FileSystemOutput, StackOutputs
from landbridge.plan.site.serving_hosts import without_serving

#: Key of the home file system in the stack's outputs.
SHARE = "home"
#: Folder of the homes of local accounts, such as Ansible's, because the home file system is mounted over their usual
#: place.
LOCAL_HOMES = "/var/lib/landbridge/homes"


def home_mounts(environment: Environment, outputs: StackOutputs | None) -> list[dict[str, Any]]:
    """Return the clients' mounts for the role nfs_client. A file system in AWS has a DNS name only once it is built."""
    home = environment.storage.home
    if isinstance(home, NfsHome):
        return [{"server": service_hosts(environment).storage, "export": home.export, "mount": home.mount}]
    if isinstance(home, ExternalNfsHome):
        return [{"server": home.host, "export": home.export, "mount": home.mount, "options": home.options}]
    file_system = outputs.file_systems.get(SHARE) if outputs is not None else None
    if file_system is None:
        return []
    return [_mount(file_system, home.mount)]


def home_exports(environment: Environment) -> list[dict[str, Any]]:
    """Return the NFS server's export of homes, for the role nfs_server: to the site, and to the VPCs if cloud nodes mount it."""
    home = environment.storage.home
    if not isinstance(home, NfsHome):
        return []
    in_aws = map(str, vpc_ranges(environment)) if home.on_cloud_nodes else ()
    site = without_serving(environment, (str(service_hosts(environment).cidr),))
    clients = [*site, *in_aws]
    return [{"path": home.export, "clients": clients, "root_squash": True}]


def nfs_server_mounts(environment: Environment) -> list[dict[str, Any]]:
    """Return the NFS server's bind mount: its exported folder at the path where clients mount it."""
    home = environment.storage.home
    if not isinstance(home, NfsHome) or home.export == home.mount:
        return []
    return [{"export": home.export, "mount": home.mount}]


def share_mounts(environment: Environment, outputs: StackOutputs | None) -> list[dict[str, Any]]:
    """Return the mounts of login hosts in AWS besides homes, for the role nfs_client: the jobs' shares over NFS.

    Empty before the stack exists, and for on-prem services: file systems in AWS are mounted in AWS only.
    """
    if environment.aws.services is None or outputs is None:
        return []
    file_systems = outputs.file_systems.items()
    return [
        _mount(file_system, file_system.mount)
        for name, file_system in file_systems
        if name != SHARE and file_system.type in ("nfs4", "efs")
    ]


def _mount(file_system: FileSystemOutput, mount: str) -> dict[str, Any]:
    server, _, export = file_system.source.partition(":")
    kind = {"type": "efs"} if file_system.type == "efs" else {}
    options = f"{file_system.options},nosuid,nodev"
    return {"server": server, "export": export, "mount": mount, "options": options, **kind}


def home_creator(environment: Environment) -> str | None:
    """Return the host that creates users' homes on a file system in AWS: the first login host, which mounts it. Root of all
    other hosts and nodes is squashed (plan/aws/storage/nfs_export.py, plan/aws/storage/efs_access.py).
    """
    return next(iter(service_hosts(environment).logins), None)


def aws_home_variables(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """Return the variables that create a home folder for each user on a file system in AWS; empty before it is mounted."""
    home = environment.storage.home
    if isinstance(home, NfsHome | ExternalNfsHome) or not home_mounts(environment, outputs):
        return {}
    return {
        "nfs_client_homes": [{"path": f"{home.mount}/{user.name}", "owner": user.uid} for user in environment.users],
        "mlflow_clients_home_root": home.mount,
    }


def session_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of sessions on login hosts: whether they have MLflow's credentials as variables.

    The credentials are in the homes. Nodes in AWS that do not mount them get the variables of the session that submits a job.
    """
    home, aws = environment.storage.home, environment.aws
    is_in_aws = not isinstance(home, NfsHome | ExternalNfsHome)
    has_homeless_nodes = not home.on_cloud_nodes or (is_in_aws and bool(aws.other_regions))
    return {"mlflow_sessions_wanted": bool(aws.pools) and has_homeless_nodes and bool(mlflow_servers(environment))}
