"""Who gets into a GPU node by ssh: users for as long as they have a job there, and into that job."""

from typing import Any

from landbridge.catalog import slurm_sources
from landbridge.environment import Environment


def node_login_variables(environment: Environment) -> dict[str, Any]:
    """What the role slurm_adopt is told; nothing where sshd is somebody else's (`hosts.hardening`)."""
    wanted = environment.hosts
    if not wanted.hardening:
        return {}
    found: dict[str, Any] = {
        "landbridge_slurm_adopt": wanted.ssh.nodes == "jobs",
        "slurm_adopt_exempt_groups": list(wanted.ssh.nodes_without_job),
    }
    if environment.scheduler.slurm.packaging == "schedmd":
        found["slurm_adopt_packages"] = list(slurm_sources().names["libpam-slurm-adopt"])
    return found
