"""Variables of the role site_dns: the zones that the site's name servers answer, and their forwarders."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.dns import aws_domains, reverse_zones, site_domain
from landbridge.plan.network.hosts import InventoryHost, hosts
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.outputs import StackOutputs

Variables = dict[str, Any]


def site_dns_variables(environment: Environment, outputs: StackOutputs | None) -> Variables:
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
