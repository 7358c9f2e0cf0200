"""ssh logins on GPU nodes (pam_slurm_adopt): users with a running job there, into that job's cgroup."""

from typing import Any

from landbridge.catalog import slurm_sources
from landbridge.environment import Environment


def node_login_variables(environment: Environment) -> dict[str, Any]:
    """Return the role slurm_adopt's variables; empty if the site manages sshd itself (`hosts.hardening`)."""
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
