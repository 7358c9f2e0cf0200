"""Role nfs_client: mounts of home directories and of the site's NFS shares."""

from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site, group_roles
from landbridge.plan.network.hosts import InventoryHost, ServiceHosts


def _members(environment: Environment, served: ServiceHosts) -> list[str]:
    """Return nodes, and hosts on which users have files: a login host that exports the homes mounts them too, at the same path."""
    nodes = [name for group in environment.node_groups for name in hostlist.expand(group.hosts)]
    submitting = [role.members(environment, served) for role in group_roles().values() if role.has_slurm_commands]
    return [*nodes, *(name for members in submitting for name in members)]


def _variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.site.home_directories import LOCAL_HOMES, home_mounts

    environment, mounts = site.environment, home_mounts(site.environment, site.outputs)
    return {
        "nfs_client_mounts": [*mounts, *_shares(site)],
        # The account of operators has its home below the mount point of the home file system.
        "nfs_client_accounts": [user.name for user in environment.users],
        "nfs_client_local_homes": LOCAL_HOMES,
        # Home mounts of a cloud node at boot, through the link or in AWS.
        "landbridge_cloud_mounts": mounts if environment.storage.home.on_cloud_nodes else [],
    }


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    from landbridge.plan.site.home_directories import aws_home_variables, home_creator, nfs_server_mounts

    variables: dict[str, Any] = {}
    if {"nfs_server", "nfs_client"} <= set(host.groups):
        variables["nfs_client_mounts"] = [*nfs_server_mounts(site.environment), *_shares(site)]
    if host.name == home_creator(site.environment):
        variables |= aws_home_variables(site.environment, site.outputs)
    return variables


def _shares(site: Site) -> list[dict[str, Any]]:
    """Return the mounts besides homes."""
    from landbridge.plan.site.home_directories import share_mounts
    from landbridge.plan.site.site_shares import site_nfs_mounts

    return [*site_nfs_mounts(site.environment), *share_mounts(site.environment, site.outputs)]


ROLE = HostRole(
    group="nfs_client",
    place=70,
    members=_members,
    variables={EVERYWHERE: _variables},
    host_variables=_host_variables,
)
