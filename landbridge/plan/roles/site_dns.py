"""Role site_dns: the zones that the site's name servers answer, and their forwarders."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from landbridge.environment import Environment
from landbridge.plan.network.dns import aws_domains, reverse_zones, site_domain
from landbridge.plan.network.firewall_rule import FirewallRule, without_overlaps
from landbridge.plan.network.host_role import HostRole, Site, hosts
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.other_regions import aws_ranges

if TYPE_CHECKING:
    from landbridge.plan.outputs import StackOutputs

Variables = dict[str, Any]
#: Source: RFC 1035.
DNS_PORT = 53


def site_dns_variables(environment: Environment, outputs: "StackOutputs | None") -> Variables:
    """Return the variables of the role `site_dns`; the forwarders to AWS need the stack's outputs."""
    dns, onprem = environment.dns, environment.onprem
    if dns is None or onprem is None or not name_server_hosts(environment):
        return {}
    domain = site_domain(environment)
    variables: Variables = {
        "site_dns_clients": [str(cidr) for cidr in (onprem.cidr, *aws_ranges(environment))],
        "site_dns_zones": [domain, *(reverse_zones(onprem.cidr) if dns.reverse else ())],
        "site_dns_records": [{"name": f"{host.name}.{domain}", "address": host.address} for host in hosts(environment)],
        "site_dns_upstream": [str(address) for address in dns.upstream],
    }
    if outputs is not None and outputs.dns is not None:
        servers = list(outputs.dns.inbound_addresses)
        variables["site_dns_forwards"] = [{"domain": domain, "servers": servers} for domain in aws_domains(environment)]
    return variables


def site_dns_host(environment: Environment, host: InventoryHost) -> Variables:
    """Return a name server's host variables: its listen address, because other programs may use port 53 on other
    addresses.
    """
    return {"site_dns_listen": [host.address]} if host.name in name_server_hosts(environment) else {}


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    if name_server_hosts(site.environment):
        clients = without_overlaps((str(site.services.cidr), *map(str, aws_ranges(site.environment))))
        for protocol in ("udp", "tcp"):
            why = "DNS queries for names of the site and of AWS"
            yield ROLE.group, FirewallRule(clients, protocol, (str(DNS_PORT),), why, to_serving=True)


ROLE = HostRole(
    group="site_dns",
    place=100,
    members=lambda environment, served: name_server_hosts(environment),
    beside_existing_slurm=True,
    variables={"site_dns": lambda site: site_dns_variables(site.environment, site.outputs)},
    host_variables=lambda site, host: site_dns_host(site.environment, host),
    firewall=_firewall,
)
