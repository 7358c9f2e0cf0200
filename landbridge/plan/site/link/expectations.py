"""Expectations of the link between sites, from the environment and the stack's outputs: tunnels, BGP, routes, flows and
DNS names. Pure; `landbridge netcheck` compares them with the state of the hosts.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from landbridge.catalog.link import LinkFacts, link_facts
from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.link import OWN_KEYS, VpnArgs, link_args
from landbridge.plan.network.service_flows import port_range
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.link.flows import FlowExpectation, NameExpectation, flow_expectations, name_expectations
from landbridge.plan.site.link.gateway import gateway_variables, linked_gateway_variables, linked_gateways, own_gateways
from landbridge.plan.slurm_ports import slurm_ports

#: Interface of every tunnel in user space.
USERSPACE_INTERFACE = "ipsec0"
#: Bytes of the IPv4 and TCP headers without options. Source: RFC 9293, section 3.7.1 (MSS).
MSS_HEADERS = 40
Datapath = Literal["kernel", "userspace"]


@dataclass(frozen=True, slots=True)
class TunnelExpectation:
    """Tunnel of a gateway. `if_id` is None in user space; the lifetimes are AWS's, and the gateway rekeys before."""

    name: str
    interface: str
    if_id: int | None
    local_address: str
    remote_address: str
    inside_local: str
    inside_remote: str
    inside_prefix: int
    remote_asn: int
    ike_proposal: str
    esp_proposal: str
    ike_seconds: int
    esp_seconds: int
    dpd_seconds: int
    mtu: int
    #: Copies of the gateway's AS number that announcements of a backup have in addition.
    prepend: int = 0

    @property
    def mss(self) -> int:
        """Maximum segment size of TCP connections through the tunnel."""
        return self.mtu - MSS_HEADERS


@dataclass(frozen=True, slots=True)
class GatewayExpectation:
    """Gateway of a site: `sends` and `accepts` are the prefixes that BGP announces to AWS and accepts from it.

    `tunnels` lacks the ones that the datapath does not carry. `offered`: number of tunnels that AWS offers.
    """

    host: str
    site: str
    address: str
    asn: int
    datapath: Datapath
    sends: tuple[str, ...]
    accepts: tuple[str, ...]
    tunnels: tuple[TunnelExpectation, ...]
    offered: int
    #: Address that two gateways share; empty for one gateway, or for a site with a router of its own.
    shared_address: str = ""
    #: BGP neighbours in the site: its router, and the other gateway.
    inside_neighbors: tuple[str, ...] = ()
    #: Common name of the gateway's certificate, and the days before its end from which it is a warning; empty: pre-shared keys.
    certificate: str = ""
    alarm_days: int = 0


@dataclass(frozen=True, slots=True)
class LinkExpectations:
    """Expectations of an environment's link. `throughput_port`: TCP port that both directions permit, for a sample."""

    environment: str
    gateways: tuple[GatewayExpectation, ...]
    flows: tuple[FlowExpectation, ...]
    names: tuple[NameExpectation, ...]
    limits: LinkFacts
    throughput_port: int


def gateway_hosts(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return the gateways that Landbridge configures, with their sites: our own site's gateways first."""
    ours = ((host, "onprem") for host in own_gateways(environment))
    return (*ours, *((host, name) for host, (name, _) in linked_gateways(environment).items()))


def link_expectations(environment: Environment, outputs: StackOutputs | None) -> LinkExpectations:
    """Return the expectations. Without outputs of the stack, gateways have no tunnels."""
    return LinkExpectations(
        environment=environment.name,
        gateways=tuple(_gateway(environment, outputs, host, site) for host, site in gateway_hosts(environment)),
        flows=flow_expectations(environment),
        names=name_expectations(environment, outputs),
        limits=link_facts(),
        # The last of srun's ports: srun begins with the first.
        throughput_port=port_range(slurm_ports(environment)[2])[1],
    )


def _gateway(environment: Environment, outputs: StackOutputs | None, host: str, site: str) -> GatewayExpectation:
    if site == "onprem":
        variables = gateway_variables(environment, outputs, service_hosts(environment).gateways.index(host))
    else:
        variables = linked_gateway_variables(environment, site, outputs)
    tunnels = variables.get("site_gateway_tunnels", [])
    datapath: Datapath = variables["site_gateway_datapath"]
    vpns = link_args(environment).vpns
    active = tunnels if datapath == "kernel" else tunnels[:1]
    return GatewayExpectation(
        host=host,
        site=site,
        address=variables["site_gateway_router_id"],
        asn=variables["site_gateway_local_asn"],
        datapath=datapath,
        sends=tuple(variables["site_gateway_advertise"]),
        accepts=tuple(variables["site_gateway_accept"]),
        tunnels=tuple(
            _tunnel(variables, tunnel, number, _vpn_of(environment, site, tunnel, variables, vpns))
            for number, tunnel in enumerate(active, start=1)
        ),
        offered=len(tunnels),
        inside_neighbors=tuple(variables.get("site_gateway_inside_neighbors", ())),
        shared_address=variables.get("site_gateway_shared_address", "").partition("/")[0],
        certificate=variables.get("site_gateway_certificate", {}).get("name", ""),
        alarm_days=variables.get("site_gateway_certificate", {}).get("alarm_days", 0),
    )


def _vpn_of(
    environment: Environment, site: str, tunnel: dict[str, Any], variables: dict[str, Any], vpns: dict[str, VpnArgs]
) -> VpnArgs:
    """Return AWS's settings of the connection of a tunnel, which its local address identifies."""
    local = tunnel.get("local_address", variables["site_gateway_local_address"])
    keys = (site,) if site != "onprem" else tuple(key for key in chain(*OWN_KEYS) if key in vpns)
    return next(vpns[key] for key in keys if vpns[key].gateway_address == local)


def _tunnel(variables: dict[str, Any], tunnel: dict[str, Any], number: int, vpn: VpnArgs) -> TunnelExpectation:
    is_kernel = variables["site_gateway_datapath"] == "kernel"
    return TunnelExpectation(
        name=tunnel["name"],
        interface=tunnel["name"] if is_kernel else USERSPACE_INTERFACE,
        if_id=number if is_kernel else None,
        local_address=tunnel.get("local_address", variables["site_gateway_local_address"]),
        remote_address=tunnel["remote_address"],
        inside_local=tunnel["inside_local"],
        inside_remote=tunnel["inside_remote"],
        inside_prefix=tunnel["inside_prefix"],
        remote_asn=tunnel["remote_asn"],
        ike_proposal=variables["site_gateway_ike_proposals"],
        esp_proposal=variables["site_gateway_esp_proposals"],
        ike_seconds=vpn.phase1_seconds,
        esp_seconds=vpn.phase2_seconds,
        dpd_seconds=vpn.dpd_seconds,
        mtu=variables["site_gateway_mtu"],
        prepend=tunnel.get("prepend", 0),
    )
