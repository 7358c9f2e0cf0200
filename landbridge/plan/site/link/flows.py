"""Connections and DNS names across the link that a host of either site can try. Pure.

They are made from the same list as firewalls and security groups (plan/network/service_flows.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.plan.network.dns import (
    private_zone,
    server_addresses,
    site_domain,
)
from landbridge.plan.network.host_role import group_roles
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flows import SITE_SERVER, cloud_scrapes, port_range, service_flows
from landbridge.plan.network.services.monitoring import exporter_port, monitoring_host
from landbridge.plan.network.services.serving import cloud_model_servers, model_gateway_hosts, model_slots
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.slurm_ports import slurm_ports

#: Route 53 Resolver's address in every VPC. Source: Amazon VPC User Guide, "DNS attributes in your VPC" (Amazon DNS server).
VPC_RESOLVER = "169.254.169.253"
#: Destination of a flow towards a node in AWS, whose address is known only while it runs.
CLOUD_NODE = ""
LinkSide = Literal["onprem", "aws"]


@dataclass(frozen=True, slots=True)
class FlowExpectation:
    """Connection from a host of one side to a port of the other. `address` CLOUD_NODE: any running node in AWS.

    `listens` is False for a port of a range of which programs use some for a while: a refused connection shows too that
    no firewall is in between.
    """

    origin: LinkSide
    to: str
    address: str
    protocol: str
    port: int
    listens: bool
    why: str
    #: Only host of the origin that may connect; empty: every one.
    host: str = ""
    #: Whether the destination may be stopped: silence of all of its ports is not a fault then.
    may_be_stopped: bool = False


@dataclass(frozen=True, slots=True)
class NameExpectation:
    """DNS query that a host of one side sends: to a server of its own side, or (`direct`) to the other side's.

    `address` is the expected answer; None for a query of a zone's SOA record.
    """

    origin: LinkSide
    server: str
    name: str
    address: str | None
    direct: bool


def flow_expectations(environment: Environment) -> tuple[FlowExpectation, ...]:
    """Return the connections of the port matrix, both ways; only those to hosts with an address in the plan."""
    if environment.link is None or environment.onprem is None:
        return ()
    return (*_to_site(environment), *_to_aws(environment))


def unknown_destinations(environment: Environment) -> tuple[str, ...]:
    """Return the reasons of flows to servers that Landbridge does not configure: the plan has no address for them."""
    return tuple(dict.fromkeys(flow.why for flow in service_flows(environment) if flow.group == SITE_SERVER))


def name_expectations(environment: Environment, outputs: StackOutputs | None) -> tuple[NameExpectation, ...]:
    """Return the DNS queries of both sides; empty without `dns`."""
    onprem = environment.onprem
    if environment.dns is None or onprem is None or environment.link is None:
        return ()
    servers, zone = server_addresses(environment), private_zone(environment)
    inbound = outputs.dns.inbound_addresses if outputs is not None and outputs.dns is not None else ()
    controller = service_hosts(environment).controllers[0]
    address = environment.host_addresses().get(controller) or str(onprem.addresses.get(controller, ""))
    name = f"{controller}.{site_domain(environment)}"
    return (
        *(NameExpectation("onprem", server, zone, None, direct=False) for server in servers),
        *(NameExpectation("onprem", server, zone, None, direct=True) for server in inbound),
        *([NameExpectation("aws", VPC_RESOLVER, name, address, direct=False)] if address else []),
        *(NameExpectation("aws", server, name, address, direct=True) for server in servers if address),
    )


def _to_site(environment: Environment) -> Iterator[FlowExpectation]:
    """Yield the connections from nodes in AWS. Of the on-prem nodes, the first of each group is tried."""
    members = _members(environment)
    seen = set()
    for flow in service_flows(environment):
        first, last = port_range(flow.ports)
        for host, address in members.get(flow.group, {}).items():
            key = (address, flow.protocol, first)
            if flow.protocol == "tcp" and key not in seen:
                seen.add(key)
                # An on-prem node that is drained or down has no slurmd: only the path is judged.
                listens = first == last and flow.group != "slurm_node"
                yield FlowExpectation("aws", host, address, "tcp", first, listens, flow.why)


def _to_aws(environment: Environment) -> Iterator[FlowExpectation]:
    """Yield the connections from the site's controllers and from Prometheus to nodes in AWS."""
    if environment.aws.pools:
        _, slurmd, srun = slurm_ports(environment)
        yield FlowExpectation(
            "onprem", "a node in AWS", CLOUD_NODE, "tcp", port_range(slurmd)[0], True, "slurmctld reaches slurmd"
        )
        yield FlowExpectation(
            "onprem", "a node in AWS", CLOUD_NODE, "tcp", port_range(srun)[0], False, "srun and its tasks"
        )
    for host, _, port, why in cloud_scrapes(environment):
        yield FlowExpectation("onprem", "a node in AWS", CLOUD_NODE, "tcp", port, False, why, host)
    yield from _to_model_servers(environment)


def _to_model_servers(environment: Environment) -> Iterator[FlowExpectation]:
    """Yield the connections to hosts of model servers in AWS, which the model gateway stops without load. An empty slot listens on no port."""
    served, in_aws = service_hosts(environment), cloud_model_servers(environment)
    for slot in (slot for slot in model_slots(environment) if slot.host in in_aws and slot.host in served.addresses):
        address = str(served.addresses[slot.host])
        for gateway in model_gateway_hosts(environment):
            why = "the model gateway reaches model servers"
            yield FlowExpectation("onprem", slot.host, address, "tcp", slot.port, False, why, gateway, True)
    monitoring = monitoring_host(environment)
    for host in (host for host in in_aws if monitoring is not None and host in served.addresses):
        address, port = str(served.addresses[host]), exporter_port("node")
        why = "Prometheus reads the metrics of hosts"
        yield FlowExpectation("onprem", host, address, "tcp", port, True, why, monitoring or "", True)


def _members(environment: Environment) -> dict[str, dict[str, str]]:
    """Return the hosts of each group that nodes in AWS connect to, with their addresses."""
    served = service_hosts(environment)
    addresses = {**{name: str(address) for name, address in served.addresses.items()}, **environment.host_addresses()}
    first_nodes = {hostlist.expand(group.hosts)[0]: str(group.address) for group in environment.node_groups}
    members = {
        role.group: {name: addresses[name] for name in role.members(environment, served) if name in addresses}
        for role in group_roles().values()
    }
    return {**members, "slurm_node": first_nodes}
