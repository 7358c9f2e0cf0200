"""Slurm controller pair on-prem: shared StateSaveLocation, and the settings of a backup controller.

Source: slurm.conf(5), StateSaveLocation (shared between a pair, writable for both), SlurmctldHost, SlurmctldTimeout.
"""

from typing import Any

from landbridge.environment import Environment, NfsHome
from landbridge.environment.base import Scalar
from landbridge.plan.args import Args
from landbridge.plan.network.hosts import ServiceHosts, service_hosts

#: State folder on the controller's own disk, and mount point of a shared one: a different path, so that it hides no
#: local state.
LOCAL, SHARED = "/var/lib/slurm/slurmctld", "/var/lib/slurm/shared"
#: Folder that the storage host exports for it, to the controllers only.
EXPORT = "/export/slurm"
#: `hard`: writes wait for a restart of the server, so that the state survives it. It contains no programs and no
#: devices.
OPTIONS = "vers=4.2,hard,nosuid,nodev,noexec"
#: Debian's uid of slurm: NFS checks permissions by uid.
SLURM_UID = 64030
#: Seconds. More than a restart takes with 10,000 nodes (4 s); Slurm's default of 120 is a long wait for users.
TAKEOVER_SECONDS = 60


class SharedState(Args):
    """Shared folder outside both controllers. `ours` is true if our storage host exports it, false for an external
    filer.
    """

    server: str
    export: str
    options: str
    ours: bool


def has_standby(environment: Environment) -> bool:
    """True if there is a backup controller."""
    return len(service_hosts(environment).controllers) > 1


def shared_state(environment: Environment) -> SharedState | None:
    """Return the shared StateSaveLocation; None for the controller's own disk, and for a pair without one (a rule
    reports it).
    """
    site, served = environment.onprem, service_hosts(environment)
    if site is None or site.existing_slurm is not None:
        return None
    controller_state = site.controller_state
    if controller_state is not None:
        return SharedState(
            server=controller_state.host, export=controller_state.export, options=controller_state.options, ours=False
        )
    if not has_standby(environment) or not _exports(environment, served):
        return None
    return SharedState(server=site.services.storage, export=EXPORT, options=OPTIONS, ours=True)


def state_folder(environment: Environment) -> str:
    """Return StateSaveLocation: on shared storage a subfolder per cluster, because the exported folder
    belongs to root.
    """
    if environment.existing_slurm is not None:
        return environment.existing_slurm.state
    return LOCAL if shared_state(environment) is None else f"{SHARED}/{environment.name}"


def pair_settings(environment: Environment) -> dict[str, Scalar]:
    """Return slurm.conf settings that only a controller pair has."""
    return {"SlurmctldTimeout": TAKEOVER_SECONDS} if has_standby(environment) else {}


def state_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of the role slurm_controller, and the mount for nfs_client; empty if the state is on the
    host's own disk.
    """
    state = shared_state(environment)
    if state is None:
        return {}
    mount = {"server": state.server, "export": state.export, "mount": SHARED, "options": state.options}
    return {
        "slurm_controller_state_folder": state_folder(environment),
        "slurm_controller_state_mount": SHARED,
        "landbridge_controller_mounts": [mount],
    }


def state_export(environment: Environment) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the role nfs_server's export and folder; empty for an external filer."""
    state, served = shared_state(environment), service_hosts(environment)
    if state is None or not state.ours:
        return [], []
    clients = [str(served.addresses[name]) for name in served.controllers if name in served.addresses]
    export = {"path": state.export, "clients": clients, "root_squash": True}
    return [export], [{"path": f"{state.export}/{environment.name}", "owner": SLURM_UID}]


def _exports(environment: Environment, served: ServiceHosts) -> bool:
    """True if a host of ours, neither of the controllers, exports shares."""
    return isinstance(environment.storage.home, NfsHome) and served.storage not in served.controllers
