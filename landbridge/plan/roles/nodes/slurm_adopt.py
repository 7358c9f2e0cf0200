"""Role slurm_adopt: ssh logins on GPU nodes (pam_slurm_adopt): only users with a running job on the node, in that job's cgroup."""

from typing import Any

from landbridge.catalog import slurm_sources
from landbridge.environment import Environment
from landbridge.plan.network.host_role import EVERYWHERE, HostRole


def node_login_variables(environment: Environment) -> dict[str, Any]:
    """Return the role slurm_adopt's variables; empty if the site manages sshd itself (`hosts.hardening`)."""
    settings = environment.hosts
    if not settings.hardening:
        return {}
    variables: dict[str, Any] = {
        "landbridge_slurm_adopt": settings.ssh.nodes == "jobs",
        "slurm_adopt_exempt_groups": list(settings.ssh.nodes_without_job),
    }
    if environment.scheduler.slurm.packaging == "schedmd":
        variables["slurm_adopt_packages"] = list(slurm_sources().names["libpam-slurm-adopt"])
    return variables


ROLE = HostRole(variables={EVERYWHERE: lambda site: node_login_variables(site.environment)})
