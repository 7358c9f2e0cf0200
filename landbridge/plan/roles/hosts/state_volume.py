"""Role state_volume: folders on the EBS state volume of services in AWS."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.network.services.mlflow_servers import MAIN, MlflowServer, mlflow_servers
from landbridge.plan.outputs import StackOutputs

#: Uids that are the same on every host, because a volume stores owners by uid. slurm has Debian's uid; the others are
#: outside the range that Debian leaves to administrators (Debian Policy, 9.2.2: Debian assigns 60000 to 64999 on
#: request, and 30000 to 59999 are unassigned).
_SLURM, _POSTGRES, _MLFLOW = 64030, 58001, 58002
_FOLDERS = (
    {"path": "/var/lib/slurm", "owner": "slurm", "uid": _SLURM, "home": "/nonexistent"},
    {"path": "/var/lib/landbridge", "owner": "slurm", "uid": _SLURM, "home": "/nonexistent"},
    {"path": "/var/lib/postgresql", "owner": "postgres", "uid": _POSTGRES, "shell": "/bin/bash"},
    {"path": "/var/lib/mlflow", "owner": "mlflow", "uid": _MLFLOW},
)
_SERVICES = ("slurmctld", "postgresql@", "mlflow")
#: Uids on the controller that may use its IAM role: root (Systems Manager's agent), slurm (burst controller), MLflow's
#: servers.
CREDENTIALED = (0, _SLURM, _MLFLOW)


def state_volume(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """Return the variables of the roles state_volume (Slurm's state, the burst controller's journal, MLflow's database
    and artifacts) and metadata_guard.
    """
    if environment.onprem is not None or outputs is None or outputs.services is None:
        return {}
    others = [
        {"path": f"/var/lib/{server.name}", "owner": server.name, "uid": _mlflow_uid(environment, server)}
        for server in mlflow_servers(environment)
        if server.name != MAIN
    ]
    return {
        "metadata_guard_users": [*CREDENTIALED, *(folder["uid"] for folder in others)],
        "state_volume_id": outputs.services.state_volume_id,
        "state_volume_folders": [*(dict(folder) for folder in _FOLDERS), *others],
        "state_volume_services": [*_SERVICES, *(str(folder["owner"]) for folder in others)],
    }


def _mlflow_uid(environment: Environment, server: MlflowServer) -> int:
    """Return the uid of a further server of MLflow: by its class's position in the file, to which new classes are added
    at the end.
    """
    return _MLFLOW + 1 + list(environment.data_classes).index(server.data_class)


ROLE = HostRole(variables={"slurm_controller": lambda site: state_volume(site.environment, site.outputs)})
