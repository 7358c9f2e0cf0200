"""Role lustre_client: mounts of the site's Lustre file systems."""

import re
from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment, SiteLustre
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site
from landbridge.plan.network.hosts import ServiceHosts
from landbridge.plan.site.site_shares import image_variables, lustre_variables, site_lustre

#: Source: Lustre Operations Manual, LNet module parameters (accept_port).
LUSTRE_PORT = 988


def _members(environment: Environment, served: ServiceHosts) -> list[str]:
    if not any(isinstance(share, SiteLustre) for share in environment.storage.site_shares.values()):
        return []
    nodes = [name for group in environment.node_groups for name in hostlist.expand(group.hosts)]
    return [*nodes, *served.logins]


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    """Yield the rule for servers with a known address, which connect back to clients. InfiniBand has no ports."""
    shares = site_lustre(site.environment)
    nids = [nid for share in shares for nid in re.split("[:,]", share.source.rpartition(":/")[0])]
    tcp_servers = [nid.partition("@")[0] for nid in nids if nid.partition("@")[2].startswith("tcp")]
    if tcp_servers:
        host_ranges = (f"{name}/32" for name in tcp_servers if re.fullmatch(r"[0-9.]+", name))
        clients = (str(site.services.cidr), *host_ranges)
        yield ROLE.group, tcp_rule(clients, LUSTRE_PORT, "Lustre servers connect to their clients")


ROLE = HostRole(
    group="lustre_client",
    place=80,
    members=_members,
    variables={
        "lustre_client": lambda site: lustre_variables(site.environment),
        EVERYWHERE: lambda site: image_variables(site.environment),
    },
    firewall=_firewall,
)
