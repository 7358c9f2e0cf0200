"""Rules about servers that Landbridge does not configure: file servers, directories, time servers, image caches."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error
from landbridge.plan.aws.node_security_group import SecurityGroupRule, pool_security_group_rules
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flows import SiteServer, site_servers
from landbridge.rules.registry import rule


@rule
def unreachable_server(environment: Environment) -> Iterator[Finding]:
    """Nodes in AWS reach the servers that they are configured for: the security group permits the port to their address.

    The link carries onprem.cidr only. Without an on-prem site, a server is in the VPC, where aws.egress permits it.
    Source: landbridge/plan/aws/node_security_group.py; VPC User Guide, "Security group rules".
    """
    servers = [server for server in site_servers(environment) if server.path[:2] != ("aws", "endpoints")]
    if not environment.aws.pools or not servers:
        return
    outward = [each for each in pool_security_group_rules(environment) if each.direction == "out"]
    for server in servers:
        if any(_permits(environment, each, server) for each in outward):
            continue
        entry = f"{{destination: …, protocol: {server.protocol}, ports: {server.port}, why: {server.why}}}"
        if environment.onprem is None:
            message = f"nodes in AWS cannot reach {server.host}: their security group permits port {server.port} to the services only"
            fix = f"add its address to aws.egress: {entry}"
        else:
            message = f"nodes in AWS cannot reach {server.host}: the link carries {environment.onprem.cidr} only"
            fix = f"widen onprem.cidr, or, if the VPC has another route to it, add it to aws.egress: {entry}"
        related: tuple[DataPath, ...] = (("aws", "egress"), ("onprem", "cidr"), ("aws", "pools"))
        yield error(server.path, message, fix=fix, related=related)


def _permits(environment: Environment, rule_out: SecurityGroupRule, server: SiteServer) -> bool:
    """Return whether a rule permits connections to a server. A name is taken to be at the site if there is one, else to be
    permitted by any rule that is not for the services.
    """
    if rule_out.protocol not in (server.protocol, "-1") or rule_out.peer == "self":
        return False
    if rule_out.ports is not None and not rule_out.ports[0] <= server.port <= rule_out.ports[1]:
        return False
    try:
        address = IPv4Address(server.host)
    except ValueError:
        return environment.onprem is not None or rule_out.peer != str(service_hosts(environment).cidr)
    # Security groups do not filter link-local addresses, such as Amazon's time service at 169.254.169.123.
    return address.is_link_local or address in IPv4Network(rule_out.peer)
