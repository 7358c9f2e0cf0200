"""Mistakes with the link between the sites."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

LINK: DataPath = ("link",)


def line(**more: Any) -> dict[DataPath, Any]:
    """A leased line."""
    own = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "169.254.80.1"}
    return {LINK: {**own, **more}}


ROWS = [
    Row("same-asn", "one AS number at both ends", {(*LINK, "onprem_asn"): 64512}, (*LINK, "onprem_asn"), "64512"),
    Row("reserved-asn", "a reserved AS number", {(*LINK, "onprem_asn"): 23456}, (*LINK, "onprem_asn"), "23456"),
    Row("reserved-asn", "AWS's own AS number", {(*LINK, "onprem_asn"): 7224}, (*LINK, "onprem_asn"), "7224"),
    Row("reserved-asn", "an AS number from documentation", {(*LINK, "onprem_asn"): 64500}, (*LINK, "onprem_asn"), "examples"),
    Row("aws-asn-private", "a public AS number for the transit gateway", {(*LINK, "aws_asn"): 1}, (*LINK, "aws_asn"), "transit gateway"),
    Row("onprem-asn-public", "somebody else's AS number", {(*LINK, "onprem_asn"): 3320}, (*LINK, "onprem_asn"), "yours"),
    Row("gateway-address", "a gateway behind NAT by its private address", {(*LINK, "gateway_address"): "192.168.1.1"}, (*LINK, "gateway_address"), "not a public"),
    Row("gateway-address", "a multicast address for a gateway", {(*LINK, "gateway_address"): "224.0.0.5"}, (*LINK, "gateway_address"), "not a public"),
    Row("gateway-address", "a gateway by its address in the site", {(*LINK, "gateway_address"): "10.20.0.1"}, (*LINK, "gateway_address"), "inside a site"),
    Row("gateway-address", "a gateway's address from documentation", {(*LINK, "gateway_address"): "198.51.100.10"}, (*LINK, "gateway_address"), "example"),
    Row("inside-cidr", "a tunnel in a range that AWS keeps", {(*LINK, "inside_cidrs"): ["169.254.5.0/30", "169.254.11.0/30"]}, (*LINK, "inside_cidrs", 0), "kept by AWS"),
    Row("inside-cidr", "a tunnel outside link-local addresses", {(*LINK, "inside_cidrs"): ["169.254.9.0/30", "10.1.0.0/30"]}, (*LINK, "inside_cidrs", 1), "not a /30"),
    Row("one-tunnel", "one tunnel in userspace", {(*LINK, "datapath"): "userspace"}, (*LINK, "datapath"), "one of the two"),
    Row("userspace-bandwidth", "a large tunnel for a slow gateway", {(*LINK, "datapath"): "userspace", (*LINK, "bandwidth"): "large"}, (*LINK, "bandwidth"), "0.3"),
    Row("tunnel-mtu", "packets that NAT makes too large", {(*LINK, "mtu"): 1446}, (*LINK, "mtu"), "1438"),
    Row("tunnel-mtu", "packets too large for a userspace tunnel", {(*LINK, "mtu"): 1440, (*LINK, "datapath"): "userspace"}, (*LINK, "mtu"), "do not fit"),
    Row("peer-addresses", "two routers with one address", line(aws_address="169.254.80.1"), (*LINK, "aws_address"), "both"),
    Row("peer-addresses", "routers in two networks", line(aws_address="169.254.81.2"), (*LINK, "aws_address"), "169.254.80.2"),
    Row("peer-addresses", "the network's own address for a router", line(aws_address="169.254.80.3"), (*LINK, "aws_address"), "two hosts"),
    Row("clear-text-line", "a leased line in clear text", line(encryption="none"), (*LINK, "encryption"), "macsec"),
    Row("clear-text-line", "health data on a line in clear text", {**line(encryption="none"), ("data_classes", "health"): {"sites": ["onprem", "aws"], "regime": "hipaa"}}, (*LINK, "encryption"), "health"),
]  # fmt: skip
