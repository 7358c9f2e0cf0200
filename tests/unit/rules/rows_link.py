"""Mistakes with the link between the sites."""

from tests.unit.rules.row import Row

ROWS = [
    Row("same-asn", "one AS number at both ends", {("link", "onprem_asn"): 64512}, ("link", "onprem_asn"), "64512"),
    Row("reserved-asn", "a reserved AS number", {("link", "onprem_asn"): 23456}, ("link", "onprem_asn"), "23456"),
    Row("aws-asn-private", "a public AS number for the transit gateway", {("link", "aws_asn"): 1}, ("link", "aws_asn"), "transit gateway"),
    Row("gateway-address", "a gateway behind NAT by its private address", {("link", "gateway_address"): "192.168.1.1"}, ("link", "gateway_address"), "not a public"),
    Row("gateway-address", "a gateway by its address in the site", {("link", "gateway_address"): "10.20.0.1"}, ("link", "gateway_address"), "inside a site"),
    Row("gateway-address", "a gateway's address from documentation", {("link", "gateway_address"): "198.51.100.10"}, ("link", "gateway_address"), "example"),
    Row("inside-cidr", "a tunnel in a range that AWS keeps", {("link", "inside_cidrs"): ["169.254.5.0/30", "169.254.11.0/30"]}, ("link", "inside_cidrs", 0), "kept by AWS"),
    Row("inside-cidr", "a tunnel outside link-local addresses", {("link", "inside_cidrs"): ["169.254.9.0/30", "10.1.0.0/30"]}, ("link", "inside_cidrs", 1), "not a /30"),
    Row("one-tunnel", "one tunnel in userspace", {("link", "datapath"): "userspace"}, ("link", "datapath"), "one of the two"),
]  # fmt: skip
