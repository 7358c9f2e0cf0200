"""Folders of the services in AWS that are on the EBS state volume."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.outputs import StackOutputs

#: Accounts with the same number on every host: files on a volume know numbers only. Debian's number for slurm; the others are
#: out of the range that Debian leaves to administrators (Debian Policy, 9.2.2: 60000 to 64999 are given out by Debian
#: on request, and 30000 to 59999 are unassigned).
_SLURM, _POSTGRES, _MLFLOW = 64030, 58001, 58002
_FOLDERS = (
    {"path": "/var/lib/slurm", "owner": "slurm", "uid": _SLURM, "home": "/nonexistent"},
    {"path": "/var/lib/landbridge", "owner": "slurm", "uid": _SLURM, "home": "/nonexistent"},
    {"path": "/var/lib/postgresql", "owner": "postgres", "uid": _POSTGRES, "shell": "/bin/bash"},
    {"path": "/var/lib/mlflow", "owner": "mlflow", "uid": _MLFLOW},
)
_SERVICES = ("slurmctld", "postgresql@", "mlflow")
#: Who on the controller uses the rights of its role: root (Systems Manager's agent), the burst controller, MLflow.
CREDENTIALED = (0, _SLURM, _MLFLOW)


def state_volume(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """Variables of the roles state_volume (Slurm's queue, the burst controller's journal, MLflow's database and artifacts) and
    metadata_guard."""
    if environment.onprem is not None or outputs is None or outputs.services is None:
        return {}
    return {
        "metadata_guard_users": list(CREDENTIALED),
        "state_volume_id": outputs.services.state_volume_id,
        "state_volume_folders": [dict(folder) for folder in _FOLDERS],
        "state_volume_services": list(_SERVICES),
    }
