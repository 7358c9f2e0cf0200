"""Role slurm_common: packages, accounts and keys of Slurm on every host."""

from typing import Any

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.site.mig import group_of
from landbridge.plan.slurm.auth_key import has_multiple_keys
from landbridge.plan.slurm.packages import node_packages, slurm_packages


def existing_slurm_variables(environment: Environment) -> dict[str, Any]:
    """Return the uid of Slurm's account and the folders of slurmd on nodes in AWS; empty if Landbridge configures the
    whole site.

    slurmd accepts messages of root and of SlurmUser's uid only (_slurm_authorized_user in slurmd's req.c).
    """
    existing = environment.existing_slurm
    if existing is None:
        return {}
    return {"slurm_common_uid": existing.uid, "slurm_common_folders": list(existing.node_folders)}


def _variables(site: Site) -> dict[str, Any]:
    scheduler = site.environment.scheduler
    return {
        "slurm_common_auth": scheduler.auth,
        **slurm_packages(site.environment),
        "slurm_common_upgrades_from": list(slurm_releases()[scheduler.slurm.version].upgrades_from),
        **existing_slurm_variables(site.environment),
        # The keys are in the operator's secrets folder.
        **({"landbridge_slurm_keys": has_multiple_keys(site.environment)} if scheduler.auth == "slurm" else {}),
    }


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    group = group_of(site.environment, host.name)
    return {} if group is None else node_packages(site.environment, group.os)


ROLE = HostRole(variables={EVERYWHERE: _variables}, host_variables=_host_variables)
