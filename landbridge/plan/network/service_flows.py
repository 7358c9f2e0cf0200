"""Connections between nodes in AWS and services: every role's, and connections to servers that the site operates itself.

The firewall of on-prem hosts permits these connections from AWS (plan/site/firewall.py), and the security group of the nodes
permits them outwards (plan/aws/pool.py). Both read this list; tests/unit/plan/site/test_service_flows.py compares the two results.
Connections from Prometheus to the exporters of nodes are a list of their own. Name servers are not in it: nodes query the VPC's resolver, whose outbound endpoint has its own security group.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from landbridge.environment import Environment, ExternalNfsHome
from landbridge.findings import DataPath
from landbridge.plan.network.host_role import group_roles, site_of
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.network.services.monitoring import cloud_exporters, exporter_port, monitoring_host

#: Source: RFC 7530, section 3.1 (NFS 4 has one port), RFC 5905 (NTP), RFC 4513 and IANA (LDAP, LDAP over TLS).
NFS_PORT, NTP_PORT = 2049, 123
_LDAP_PORTS = {"ldap": 389, "ldaps": 636}
_HTTP_PORTS = {"http": 80, "https": 443}
#: Inventory group of a server that the site operates itself.
SITE_SERVER = ""
HOMES = "home directories (NFS 4)"


@dataclass(frozen=True, slots=True)
class SiteServer:
    """Server that Landbridge does not configure: its place in the environment, its name or address, and its port."""

    path: DataPath
    host: str
    protocol: str
    port: int
    why: str


def service_flows(environment: Environment) -> tuple[ServiceFlow, ...]:
    """Return the connections from nodes in AWS to the services' site, each once."""
    site = site_of(environment)
    of_roles = (flow for role in group_roles().values() for flow in role.from_aws(site))
    return tuple(dict.fromkeys((*of_roles, *_site_servers(environment))))


def cloud_scrapes(environment: Environment) -> Iterator[tuple[str, str, int, str]]:
    """Yield host, network, port and reason of each connection from Prometheus to the exporters of nodes in AWS."""
    host, served = monitoring_host(environment), service_hosts(environment)
    if host is not None and host in served.addresses:
        for exporter in cloud_exporters(environment):
            why = f"Prometheus reads the metrics of {'GPUs' if exporter == 'dcgm' else 'nodes'}"
            yield host, f"{served.addresses[host]}/32", exporter_port(exporter), why


def port_range(ports: str) -> tuple[int, int]:
    """Return the first and the last port of a port or a range."""
    first, _, last = ports.partition("-")
    return int(first), int(last or first)


def site_servers(environment: Environment) -> Iterator[SiteServer]:
    """Yield the servers that Landbridge does not configure and nodes in AWS call, each with its place in the environment."""
    home, hosts = environment.storage.home, environment.hosts
    if isinstance(home, ExternalNfsHome) and home.on_cloud_nodes:
        yield SiteServer(("storage", "home", "host"), home.host, "tcp", NFS_PORT, HOMES)
    # With a bind password cloud nodes use no directory (plan/roles/hosts/users.py).
    if hosts.directory is not None and not hosts.directory.bind_dn:
        for number, uri in enumerate(hosts.directory.uris):
            parts = urlsplit(uri)
            port, path = parts.port or _LDAP_PORTS[parts.scheme], ("hosts", "directory", "uris", number)
            yield SiteServer(path, parts.hostname or "", "tcp", port, "user accounts of the LDAP directory")
    for number, server in enumerate(hosts.time_servers):
        yield SiteServer(("hosts", "time_servers", number), server, "udp", NTP_PORT, "time servers (NTP)")
    if environment.aws.endpoints.cloud is not None:
        endpoint = urlsplit(environment.aws.endpoints.cloud)
        port, why = endpoint.port or _HTTP_PORTS[endpoint.scheme], "the AWS endpoint of the file (aws.endpoints)"
        yield SiteServer(("aws", "endpoints", "cloud"), endpoint.hostname or "", "tcp", port, why)
    for name, mirror in environment.containers.mirrors.items():
        host, _, port_text = mirror.location.partition("/")[0].rpartition(":")
        port = int(port_text) if port_text.isdigit() else 80 if mirror.insecure else 443
        host = host if port_text.isdigit() else mirror.location.partition("/")[0]
        yield SiteServer(("containers", "mirrors", name), host, "tcp", port, "caches of container images")


def _site_servers(environment: Environment) -> Iterator[ServiceFlow]:
    for server in site_servers(environment):
        yield ServiceFlow(SITE_SERVER, server.protocol, str(server.port), server.why)
