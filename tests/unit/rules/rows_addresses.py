"""Mistakes with ranges, addresses and names of hosts."""

from landbridge.findings import DataPath
from tests.unit.core.samples import REMOVED
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
NODES: DataPath = ("onprem", "nodes")
NODE = {"hosts": "smc[01-02]", "platform": "dgx-a100", "address": "10.20.1.31"}

ROWS = [
    Row("overlapping-cidrs", "AWS range inside the on-prem range", {("aws", "cidr"): "10.20.128.0/17"}, ("aws", "cidr"), "on-prem"),
    Row("overlapping-cidrs", "Docker's range and the site's are one", {("onprem", "cidr"): "172.17.0.0/16"}, ("onprem", "container_cidrs", "docker"), "docker"),
    Row("overlapping-cidrs", "pods in the AWS range", {("onprem", "container_cidrs"): {"pods": "10.60.1.0/24"}}, ("onprem", "container_cidrs", "pods"), "AWS"),
    Row("overlapping-cidrs", "one inside range for both tunnels", {("link", "inside_cidrs"): ["169.254.10.0/30"] * 2}, ("link", "inside_cidrs", 1), "tunnel"),
    Row("private-cidr", "public addresses for the VPC", {("aws", "cidr"): "8.8.0.0/16"}, ("aws", "cidr"), "public"),
    Row("vpc-size", "VPC larger than a /16", {("aws", "cidr"): "10.0.0.0/12"}, ("aws", "cidr"), "/16"),
    Row("vpc-size", "VPC too small for subnets in every zone", {("aws", "cidr"): "10.60.0.0/26", (*POOL, "max_nodes"): 1}, ("aws", "cidr"), "/25"),
    Row("vpc-size", "VPC too small for NAT gateways' subnets", {("aws", "cidr"): "10.60.0.0/24", ("aws", "nat"): "single"}, ("aws", "cidr"), "/22"),
    Row("address-in-site", "nodes outside the site's range", {(*NODES, 0, "address"): "10.21.0.1"}, (*NODES, 0, "address"), "dgx01"),
    Row("address-in-site", "nodes count up into the broadcast address", {(*NODES, 0, "address"): "10.20.255.254"}, (*NODES, 0, "address"), "broadcast"),
    Row("address-in-site", "nodes count up past the last address", {(*NODES, 0, "address"): "255.255.255.255"}, (*NODES, 0, "address"), "past"),
    Row("address-in-site", "the network's own address for a host", {("onprem", "addresses", "ctl01"): "10.20.0.0"}, ("onprem", "addresses", "ctl01"), "ctl01"),
    Row("duplicate-address", "two services with one address", {("onprem", "addresses", "ctl01"): "10.20.0.12"}, ("onprem", "addresses", "db01"), "ctl01"),
    Row("duplicate-address", "a node with another node's address", {(*NODES, 1): {**NODE, "address": "10.20.1.12"}}, (*NODES, 1, "address"), "dgx02"),
    Row("duplicate-host", "a node in two groups", {(*NODES, 1): {**NODE, "hosts": "dgx02"}}, (*NODES, 1, "hosts"), "dgx02"),
    Row("duplicate-host", "a host that is a service and a node", {("onprem", "addresses", "dgx01"): "10.20.0.99"}, (*NODES, 0, "hosts"), "dgx01"),
    Row("service-without-address", "a service without an address", {("onprem", "addresses", "gw01"): REMOVED}, ("onprem", "services", "gateway"), "gw01"),
    Row("service-without-address", "a service moved to an unknown host", {("onprem", "services"): {"login": ["l1"]}}, ("onprem", "services", "login", 0), "l1"),
    Row("unused-address", "an address that nothing uses", {("onprem", "addresses", "lgn01"): "10.20.0.99"}, ("onprem", "addresses", "lgn01"), "lgn01"),
]  # fmt: skip
