"""Mistakes with the ranges of both sites."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
SECOND: DataPath = ("aws", "secondary_cidrs")
ZONES = {zone: f"10.60.{number}.0/24" for number, zone in enumerate(("use1-az4", "use1-az6"))}

ROWS = [
    Row("overlapping-cidrs", "AWS range inside the on-prem range", {("aws", "cidr"): "10.20.128.0/17"}, ("aws", "cidr"), "on-prem"),
    Row("overlapping-cidrs", "the same range at both sites", {("aws", "cidr"): "10.20.0.0/16"}, ("aws", "cidr"), "on-prem"),
    Row("overlapping-cidrs", "a secondary range inside the on-prem range", {SECOND: ["10.20.0.0/20"]}, (*SECOND, 0), "on-prem"),
    Row("overlapping-cidrs", "Docker's range as the site's", {("onprem", "cidr"): "172.17.0.0/16"}, ("onprem", "cidr"), "docker"),
    Row("overlapping-cidrs", "Docker's range as the VPC's", {("aws", "cidr"): "172.17.0.0/16"}, ("aws", "cidr"), "docker"),
    Row("overlapping-cidrs", "pods of the site in the AWS range", {("onprem", "container_cidrs"): {"pods": "10.60.1.0/24"}}, ("aws", "cidr"), "pods"),
    Row("overlapping-cidrs", "two subnets that share addresses", {("aws", "subnets"): {"use1-az4": "10.60.0.0/20", "use1-az6": "10.60.8.0/21"}, (*POOL, "capacity", 0, "zones"): ["use1-az4", "use1-az6"]}, ("aws", "subnets", "use1-az6"), "use1-az4"),
    Row("overlapping-cidrs", "one range twice in a VPC", {SECOND: ["100.64.0.0/16", "100.64.0.0/18"]}, (*SECOND, 1), "100.64.0.0/16"),
    Row("overlapping-cidrs", "one inside range for both tunnels", {("link", "inside_cidrs"): ["169.254.10.0/30"] * 2}, ("link", "inside_cidrs", 1), "tunnel"),
    Row("private-cidr", "public addresses for the VPC", {("aws", "cidr"): "8.8.0.0/16"}, ("aws", "cidr"), "public"),
    Row("private-cidr", "public addresses on-prem", {("onprem", "cidr"): "11.20.0.0/16"}, ("onprem", "cidr"), "public"),
    Row("private-cidr", "link-local addresses for the VPC", {("aws", "cidr"): "169.254.0.0/16"}, ("aws", "cidr"), "the AWS range 169.254.0.0/16 is in 169.254.0.0/16"),
    Row("range-used-by-aws", "the range of Docker, SageMaker and Cloud9", {("aws", "cidr"): "172.17.128.0/17", ("onprem", "container_cidrs"): {}}, ("aws", "cidr"), "SageMaker"),
    Row("vpc-size", "VPC larger than a /16", {("aws", "cidr"): "10.0.0.0/12"}, ("aws", "cidr"), "/16"),
    Row("vpc-size", "a secondary range smaller than a /28", {SECOND: ["10.61.0.0/29"]}, (*SECOND, 0), "/28"),
    Row("vpc-size", "VPC too small for subnets in every zone", {("aws", "cidr"): "10.60.0.0/26", (*POOL, "max_nodes"): 1}, ("aws", "cidr"), "/25"),
    Row("vpc-size", "VPC too small for NAT gateways' subnets", {("aws", "cidr"): "10.60.0.0/24", ("aws", "nat"): "single"}, ("aws", "cidr"), "/22"),
    Row("secondary-cidr", "a second private range of another kind", {SECOND: ["172.20.0.0/16"]}, (*SECOND, 0), "100.64.0.0/10"),
    Row("secondary-cidr", "the benchmark range beside a private one", {SECOND: ["198.19.0.0/16"]}, (*SECOND, 0), "198.19.0.0/16"),
    Row("secondary-cidr", "a private range beside the carriers'", {("aws", "cidr"): "100.64.0.0/16", SECOND: ["10.61.0.0/16"]}, (*SECOND, 0), "100.64.0.0/16"),
    Row("secondary-cidr", "more ranges than a VPC takes", {SECOND: [f"10.{61 + n}.0.0/16" for n in range(5)]}, SECOND, "L-83CA0A9D"),
]  # fmt: skip
