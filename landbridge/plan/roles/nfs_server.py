"""Role nfs_server: exports of home directories, of a controller pair's state and of the data exchange."""

from collections.abc import Iterator
from typing import Any

from landbridge.environment import Environment, NfsHome
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import ServiceHosts
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.network.service_flows import HOMES, NFS_PORT
from landbridge.plan.other_regions import vpc_ranges

#: NFS 3 clients connect to these first; the role configures ganesha's mountd port. Source: RFC 1833; IANA, mountd.
RPCBIND_PORT, MOUNTD_PORT = 111, 20048


def nfs_server_variables(environment: Environment) -> dict[str, Any]:
    """Return the exports and home directories of the NFS server; empty if homes are in AWS."""
    from landbridge.plan.site.data_exchange import exchange_export
    from landbridge.plan.site.home_directories import home_exports
    from landbridge.plan.slurm.controller_pair import SLURM_UID, state_export

    home = environment.storage.home
    if not isinstance(home, NfsHome):
        return {}
    state_exports, folders = state_export(environment)
    exchange_exports, exchange_folders = exchange_export(environment, SLURM_UID)
    homes = [{"path": f"{home.export}/{user.name}", "owner": user.uid} for user in environment.users]
    return {
        "nfs_server_implementation": home.server,
        "nfs_server_exports": [*home_exports(environment), *state_exports, *exchange_exports],
        "nfs_server_homes": [*homes, *folders, *exchange_folders],
    }


def _members(environment: Environment, served: ServiceHosts) -> tuple[str, ...]:
    is_exported = environment.storage.home.kind == "nfs" and served.storage is not None
    return (served.storage,) if is_exported and served.storage is not None else ()


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    home, cidr = site.environment.storage.home, str(site.services.cidr)
    if isinstance(home, NfsHome):
        in_aws = map(str, vpc_ranges(site.environment)) if home.on_cloud_nodes else ()
        yield ROLE.group, tcp_rule((cidr, *in_aws), NFS_PORT, "home directories, for the hosts in the exports")
        if home.server == "ganesha":
            ports = (str(RPCBIND_PORT), str(MOUNTD_PORT))
            # Nodes in AWS mount homes by NFS 4.
            yield ROLE.group, FirewallRule((cidr,), "tcp", ports, "NFS 3 clients, which ganesha also serves")


def _from_aws(site: Site) -> Iterator[ServiceFlow]:
    home = site.environment.storage.home
    if isinstance(home, NfsHome) and home.on_cloud_nodes:
        yield ServiceFlow(ROLE.group, "tcp", str(NFS_PORT), HOMES)


ROLE = HostRole(
    group="nfs_server",
    place=60,
    members=_members,
    variables={"nfs_server": lambda site: nfs_server_variables(site.environment)},
    firewall=_firewall,
    from_aws=_from_aws,
)
