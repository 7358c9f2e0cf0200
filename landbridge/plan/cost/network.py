"""Cost of the network: the link, NAT gateways, VPC endpoints."""

from collections.abc import Iterator

from landbridge.environment import DirectConnectSettings, Environment, VpnSettings
from landbridge.plan.cost.bill_lines import BillItem, Unpriced, by_volume, hourly, monthly
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.network.link import connections
from landbridge.plan.network.subnets import subnets
from landbridge.plan.other_regions import other_regions


def network_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the items billed by the hour, then those billed by volume."""
    region, planned = environment.region, subnets(environment)
    yield from _link(environment)
    gateways = sum(subnet.tier == "public" for subnet in planned)
    if gateways:
        yield from hourly(f"{gateways} x NAT gateway", "nat_gateway", region, gateways)
        yield from hourly(f"{gateways} x public address", "public_ipv4", region, gateways)
    zones = sum(subnet.tier == "private" for subnet in planned)
    endpoints = sum(endpoint.kind == "interface" for endpoint in endpoint_services(environment))
    if endpoints and zones:
        description = f"{endpoints} interface endpoints in {zones} zone{'s' * (zones > 1)}"
        yield from hourly(description, "interface_endpoint", region, endpoints * zones)
    for name, region_environment in other_regions(environment).items():
        yield from _other_region(name, region_environment)
    if gateways:
        yield by_volume("traffic through NAT", "network", "nat_gateway_gb", region)
    if endpoints:
        yield by_volume("traffic through interface endpoints", "network", "interface_endpoint_gb", region)


def _other_region(name: str, region_environment: Environment) -> Iterator[BillItem]:
    """Yield the fixed cost of another region: VPC attachment, both ends of the peering, NAT gateways."""
    yield from hourly(f"3 x transit gateway attachment, for {name}", "transit_gateway_attachment", name, 3)
    gateways = sum(subnet.tier == "public" for subnet in subnets(region_environment))
    yield from hourly(f"{gateways} x NAT gateway in {name}", "nat_gateway", name, gateways)
    yield from hourly(f"{gateways} x public address in {name}", "public_ipv4", name, gateways)
    yield by_volume(f"traffic between {name} and the other regions", "network", "cross_region", name)


def _link(environment: Environment) -> Iterator[BillItem]:
    link, region = environment.link, environment.region
    if link is None:
        return
    vpns = len(connections(environment))
    if vpns:
        yield from hourly("VPN connection" if vpns == 1 else f"{vpns} x VPN connection", "vpn_connection", region, vpns)
    if link.certificate is not None:
        # A CA that serves other purposes too costs the same; the CA above it may be in another account.
        yield from monthly("AWS Private CA, for certificates of tunnels", "private_ca", region, 1, kind="control")
    # One attachment for the VPC, one for each VPN, one for Direct Connect.
    attachments = 1 + vpns + isinstance(link, DirectConnectSettings)
    yield from hourly(f"{attachments} x transit gateway attachment", "transit_gateway_attachment", region, attachments)
    if isinstance(link, DirectConnectSettings):
        description = f"Direct Connect {link.connection}"
        if link.port is None:
            yield Unpriced(description, None, None, "the bandwidth of its port is not in the file")
        else:
            yield from hourly(description, f"direct_connect_{link.port}", region, 1)
        yield by_volume("traffic from AWS to on-prem", "network", "direct_connect_out", region)
    if isinstance(link, VpnSettings) or link.sites:
        description = (
            "traffic from AWS to on-prem" if isinstance(link, VpnSettings) else "traffic from AWS to other sites"
        )
        yield by_volume(description, "network", "internet_out_first_10_tb", region)
    yield by_volume("traffic through the transit gateway", "network", "transit_gateway_gb", region)
