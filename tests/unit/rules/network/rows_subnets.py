"""Mistakes with subnets."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
VPC: DataPath = ("aws", "vpc")
SUBNET = {"id": "subnet-0123456789abcdef0", "cidr": "10.60.0.0/20"}


def vpc(**more: Any) -> dict[DataPath, Any]:
    """Return the changes for an existing VPC with one subnet in the pool's zone."""
    return {VPC: {"id": "vpc-0123456789abcdef0", "subnets": {"use1-az4": SUBNET}, **more}}


ROWS = [
    Row("subnet-cidr", "a subnet outside the VPC", {("aws", "subnets"): {"use1-az4": "10.61.0.0/20"}}, ("aws", "subnets", "use1-az4"), "no range of the VPC"),
    Row("subnet-cidr", "a subnet of an existing VPC outside its range", vpc(subnets={"use1-az4": {**SUBNET, "cidr": "10.99.0.0/20"}}), (*VPC, "subnets", "use1-az4", "cidr"), "no range"),
    Row("subnet-cidr", "a subnet smaller than a /28", {("aws", "subnets"): {"use1-az4": "10.60.0.0/29"}, (*POOL, "max_nodes"): 1}, ("aws", "subnets", "use1-az4"), "/28"),
    Row("subnet-zone", "a subnet in another region's zone", {("aws", "subnets"): {"usw2-az1": "10.60.0.0/20"}}, ("aws", "subnets", "usw2-az1"), "us-east-1"),
    Row("subnet-zone", "a subnet that nothing uses", {("aws", "subnets"): {"use1-az1": "10.60.0.0/20"}}, ("aws", "subnets", "use1-az1"), "no pool or file system uses the"),
    Row("subnet-missing", "a zone without a subnet", {**vpc(), (*POOL, "capacity", 0, "zones"): ["use1-az6"]}, (*POOL, "capacity", 0, "zones", 0), "use1-az4"),
    Row("subnet-missing", "every zone, of which the VPC has one", {**vpc(), (*POOL, "capacity", 0): {"kind": "on_demand"}}, (*POOL, "capacity", 0), "all zones"),
    Row("subnet-missing", "a file system in a zone without a subnet of the VPC", {**vpc(), ("storage", "cloud_scratch"): {"kind": "fsx_lustre", "zone": "use1-az1"}}, ("storage", "cloud_scratch", "zone"), "use1-az4"),
    Row("existing-vpc", "a VPC without its DNS attributes", vpc(dns_support=False), (*VPC, "dns_support"), "enableDnsSupport"),
    Row("existing-vpc", "subnets of two VPCs", {**vpc(), ("aws", "subnets"): {"use1-az4": "10.60.0.0/20"}}, ("aws", "subnets"), "aws.vpc.subnets"),
    Row("existing-vpc", "a VPC without its route tables", vpc(), (*VPC, "subnets"), "route_table"),
    Row("existing-vpc", "a NAT gateway for an existing VPC", {**vpc(), ("aws", "nat"): "single"}, ("aws", "nat"), "no NAT gateway"),
    Row("existing-vpc", "one subnet for two zones", {**vpc(subnets={"use1-az4": SUBNET, "use1-az6": SUBNET}), (*POOL, "capacity", 0, "zones"): ["use1-az4", "use1-az6"]}, (*VPC, "subnets", "use1-az6", "id"), "use1-az4"),
    Row("public-subnet", "private nodes in a public subnet", vpc(subnets={"use1-az4": {**SUBNET, "public": True}}), (*VPC, "subnets", "use1-az4", "public"), "the nodes' subnet in use1-az4 is public"),
    Row("subnet-too-small", "more nodes than addresses", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "max_nodes"): 200}, (*POOL, "max_nodes"), "123"),
    Row("subnet-too-small", "a VPC's range that must be larger", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "max_nodes"): 200}, (*POOL, "max_nodes"), "aws.cidr to at least a /21"),
    Row("subnet-too-small", "a subnet that must be larger", {("aws", "subnets"): {"use1-az4": "10.60.0.0/26"}, (*POOL, "max_nodes"): 60}, (*POOL, "max_nodes"), "the subnet to at least a /25"),
    Row("subnet-too-small", "EFA interfaces that take an address each", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "nics"): "legacy"}, (*POOL, "max_nodes"), "128"),
    Row("subnet-too-small", "interfaces for bandwidth in a small subnet", {("aws", "subnets"): {"use1-az4": "10.60.0.0/26"}, (*POOL, "nics"): "bandwidth", (*POOL, "max_nodes"): 16}, (*POOL, "max_nodes"), "nodes 128"),
    Row("subnet-too-small", "two pools together in one subnet", {("aws", "subnets"): {"use1-az4": "10.60.0.0/26"}, (*POOL, "max_nodes"): 40, ("aws", "pools", 1): {"name": "b", "instance": "p5.48xlarge", "max_nodes": 30, "capacity": [{"kind": "on_demand", "zones": ["use1-az4"]}]}}, (*POOL, "max_nodes"), "use1-az4"),
]  # fmt: skip
