"""Variables of hosts whose Slurm runs already: the burst controller is added, and nothing else changes."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.hosts import InventoryHost


def existing_host_variables(environment: Environment, host: InventoryHost) -> dict[str, Any]:
    """Return the variables of a controller that others configure; empty for hosts that Landbridge configures.

    Its account exists, and its operating system, firewall and kernel settings stay as they are.
    """
    existing = environment.existing_slurm
    if existing is None or "burst" not in host.groups:
        return {}
    return {
        "landbridge_base": False,
        "landbridge_tuning": False,
        "landbridge_hardening": False,
        "burst_uid": existing.uid,
        "burst_account": False,
    }


def cloud_node_variables(environment: Environment) -> dict[str, Any]:
    """Return the uid of Slurm's account and the folders of slurmd on nodes in AWS; empty if Landbridge configures the
    whole site.

    slurmd accepts messages of root and of SlurmUser's uid only (_slurm_authorized_user in slurmd's req.c).
    """
    existing = environment.existing_slurm
    if existing is None:
        return {}
    return {"slurm_common_uid": existing.uid, "slurm_common_folders": list(existing.node_folders)}
