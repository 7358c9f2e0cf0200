"""What the network costs: the link, ways out, endpoints; and Kubernetes' control plane, which stands in it."""

from collections.abc import Iterator

from landbridge.environment import Environment, Vpn
from landbridge.plan.endpoints import endpoint_services
from landbridge.plan.spend.lines import Item, Unpriced, by_volume, hourly
from landbridge.plan.subnets import subnets


def network_spend(environment: Environment) -> Iterator[Item]:
    """Everything that is billed by the hour, whatever runs, and then what is billed by volume."""
    region, planned = environment.region, subnets(environment)
    yield from _link(environment)
    gateways = sum(subnet.tier == "public" for subnet in planned)
    if gateways:
        yield from hourly(f"{gateways} x NAT gateway", "nat_gateway", region, gateways)
        yield from hourly(f"{gateways} x public address", "public_ipv4", region, gateways)
    zones = sum(subnet.tier == "private" for subnet in planned)
    endpoints = sum(endpoint.kind == "interface" for endpoint in endpoint_services(environment))
    if endpoints and zones:
        what = f"{endpoints} interface endpoints in {zones} zone{'s' * (zones > 1)}"
        yield from hourly(what, "interface_endpoint", region, endpoints * zones)
    if environment.aws.kubernetes is not None:
        yield from hourly("EKS control plane", "eks_cluster", region, 1, "control")
    if gateways:
        yield by_volume("traffic through NAT", "network", "nat_gateway_gb", region)
    if endpoints:
        yield by_volume("traffic through interface endpoints", "network", "interface_endpoint_gb", region)


def _link(environment: Environment) -> Iterator[Item]:
    region = environment.region
    if isinstance(environment.link, Vpn):
        yield from hourly("VPN connection", "vpn_connection", region, 1)
        yield from hourly("2 x transit gateway attachment", "transit_gateway_attachment", region, 2)
        yield by_volume("traffic from AWS to on-prem", "network", "internet_out_first_10_tb", region)
    else:
        what = f"Direct Connect {environment.link.connection}"
        yield Unpriced(what, None, None, "the bandwidth of its port is not in the file")
        yield from hourly("2 x transit gateway attachment", "transit_gateway_attachment", region, 2)
        yield by_volume("traffic from AWS to on-prem", "network", "direct_connect_out", region)
    yield by_volume("traffic through the transit gateway", "network", "transit_gateway_gb", region)
