"""Role log_store: the site's store of logs, and the settings of its shippers.

A shipper identifies itself by the certificate of its host. The log store writes the entries of each host to files of its own.
Nodes in AWS have one certificate: each names itself in the path of its requests.
"""

from collections.abc import Iterator
from hashlib import sha256
from ipaddress import IPv4Address
from typing import Any

from landbridge.environment import Environment
from landbridge.environment.observability import LogLimits
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site, hosts
from landbridge.plan.network.hosts import InventoryHost, service_hosts
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.network.services.log_store import log_store_host, ships_cloud_logs
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.network.services.serving import model_slots
from landbridge.plan.observability.cloud_targets import certificate_name
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE
from landbridge.plan.slurm.nodes import cloud_nodes

#: Folder of node exporter's text files.
TEXTFILES = "/var/lib/prometheus/node-exporter"
#: Folder of the received journals on the log store.
LOG_FOLDER = "/var/log/landbridge-logs"
#: Class of hosts that have data of several classes. No data class has this name.
SEVERAL = "(several)"
#: Files that the role cloud_metrics' boot service writes on nodes in AWS.
CLOUD_CERTIFICATE, CLOUD_AUTHORITY = "/etc/landbridge/metrics/host.pem", "/etc/landbridge/metrics/ca.pem"
#: Loopback addresses that programs use, and those that a network's own and broadcast address would have.
_RESERVED = {*range(256), 2**24 - 1}
Variables = dict[str, Any]


def log_store_variables(environment: Environment) -> Variables:
    """Return the variables of the role log_store; empty without a log store."""
    name, settings = log_store_host(environment), environment.observability.logs
    if name is None:
        return {}
    shipping, of_nodes = hosts(environment), node_log_sources(environment)
    classes = {host.name: log_class(environment, host) for host in shipping}
    of_cloud = cloud_log_class(environment)
    return {
        "log_store_folder": LOG_FOLDER,
        "log_store_listen": f"{service_hosts(environment).addresses[name]}:{settings.port}",
        "log_store_certificate": HOST_FILE,
        "log_store_authority": AUTHORITY_FILE,
        "log_store_hosts": [
            {"name": host.name, "source": log_source(host), "class": classes[host.name]} for host in shipping
        ],
        "log_store_nodes_name": certificate_name(environment) if of_nodes else "",
        "log_store_nodes": [{"name": name, "source": source, "class": of_cloud} for name, source in of_nodes.items()],
        "log_store_textfiles": TEXTFILES if monitoring_host(environment) is not None else "",
        "log_store_retention": {
            name: log_retention(environment, name).model_dump(include={"days", "gib"})
            for name in dict.fromkeys((SEVERAL, *classes.values(), *([of_cloud] if of_nodes else [])))
        },
    }


def log_shipper_variables(environment: Environment) -> Variables:
    """Return the variables of the role log_shipper, which every host of the site has; empty without a log store."""
    name = log_store_host(environment)
    if name is None:
        return {}
    return {
        "landbridge_log_shipper": True,
        "log_shipper_url": _url(environment, name),
        "log_shipper_certificate": HOST_FILE,
        "log_shipper_authority": AUTHORITY_FILE,
    }


def cloud_log_variables(environment: Environment) -> Variables:
    """Return the variables of the role log_shipper in every image of nodes in AWS; empty if they do not ship."""
    name = log_store_host(environment)
    if name is None or not ships_cloud_logs(environment):
        return {}
    return {
        "landbridge_cloud_logs": {
            "url": _url(environment, name),
            "certificate": CLOUD_CERTIFICATE,
            "authority": CLOUD_AUTHORITY,
        }
    }


def log_source(host: InventoryHost) -> str:
    """Return the loopback address that stands for a host at the log store, by which it names the host's files.

    It depends on the host's address only, so that a new host does not change the files of another one.
    """
    return f"127.{host.address.partition('.')[2]}"


def node_log_sources(environment: Environment) -> dict[str, str]:
    """Return the loopback address that stands for each node in AWS at the log store; empty if they do not ship.

    It depends on the node's name, so that another pool or a larger one changes no other node's files. Of two nodes with one address, which
    names of thousands of nodes rarely have, the later name has the next address.
    """
    if not ships_cloud_logs(environment):
        return {}
    used = {int(IPv4Address(log_source(host))) & 0xFFFFFF for host in hosts(environment)} | _RESERVED
    sources = {}
    for name in sorted(name for group in cloud_nodes(environment) for name in group.names):
        number = int.from_bytes(sha256(name.encode()).digest()[:3])
        while number in used:
            number = (number + 1) % 2**24
        used.add(number)
        sources[name] = str(IPv4Address((127 << 24) + number))
    return sources


def log_files(source: str) -> str:
    """Return the pattern of the file names of a host or node at the log store."""
    return f"remote-{source}[.@]*journal"


def log_sources(environment: Environment) -> dict[str, str]:
    """Return the loopback address of every host and node that ships, by name."""
    return {host.name: log_source(host) for host in hosts(environment)} | node_log_sources(environment)


def cloud_log_class(environment: Environment) -> str:
    """Return the data class of the logs of nodes in AWS: their only class, or SEVERAL."""
    classes = [name for name, data_class in environment.data_classes.items() if "aws" in data_class.sites]
    return classes[0] if len(classes) == 1 else SEVERAL


def log_class(environment: Environment, host: InventoryHost) -> str:
    """Return the data class of a host's logs: its only class, or SEVERAL.

    A host with model servers and nothing else has the classes of its services. Every other host has those that may be on-prem.
    """
    if host.groups[1:] == ("model_server",) and environment.serving is not None:
        services = environment.serving.services
        classes = {services[slot.service].data_class for slot in model_slots(environment) if slot.host == host.name}
    else:
        classes = {name for name, data_class in environment.data_classes.items() if "onprem" in data_class.sites}
    return classes.pop() if len(classes) == 1 else SEVERAL


def log_retention(environment: Environment, name: str) -> LogLimits:
    """Return the retention of a class of logs."""
    return environment.observability.logs.classes.get(name, environment.observability.logs)


def _url(environment: Environment, name: str) -> str:
    return f"https://{service_hosts(environment).addresses[name]}:{environment.observability.logs.port}"


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    if log_store_host(site.environment) is None:
        return
    clients = (str(site.services.cidr), *(f"{host.address}/32" for host in site.hosts))
    port = site.environment.observability.logs.port
    yield ROLE.group, tcp_rule(clients, port, "hosts of the site send their logs")
    if ships_cloud_logs(site.environment):
        yield ROLE.group, tcp_rule(map(str, aws_ranges(site.environment)), port, "nodes in AWS send their logs")


def _from_aws(site: Site) -> Iterator[ServiceFlow]:
    if ships_cloud_logs(site.environment):
        port = str(site.environment.observability.logs.port)
        yield ServiceFlow(ROLE.group, "tcp", port, "nodes send their logs")


ROLE = HostRole(
    group="log_store",
    place=140,
    members=lambda environment, served: [name for name in (log_store_host(environment),) if name is not None],
    variables={"log_store": lambda site: log_store_variables(site.environment)},
    firewall=_firewall,
    from_aws=_from_aws,
    exporters={"logs": lambda site: log_store_host(site.environment) is not None},
)
