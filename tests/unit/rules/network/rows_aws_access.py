"""Mistakes with ways out of the VPC, and with who may come in."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

VPC = {
    "id": "vpc-0123456789abcdef0",
    "subnets": {"use1-az4": {"id": "subnet-0123456789abcdef0", "cidr": "10.60.0.0/20"}},
}
INGRESS: DataPath = ("aws", "ingress")
WHY = "the metrics of another team"


def come(source: str = "10.30.0.0/16", **more: Any) -> dict[DataPath, Any]:
    """One entry of aws.ingress."""
    return {INGRESS: [{"source": source, "why": WHY, **more}]}


def many(*entries: dict[str, Any]) -> dict[DataPath, Any]:
    """Several."""
    return {INGRESS: [{"why": WHY, **one} for one in entries]}


ROWS = [
    Row("closed-network", "neither NAT nor the endpoints for it", {("aws", "vpc_endpoints"): "gateway"}, ("aws", "vpc_endpoints"), "secretsmanager"),
    Row("endpoint-not-in-region", "a closed network where endpoints are not recorded", {("aws", "vpc_endpoints"): "derived"}, ("aws", "vpc_endpoints"), "not record", region="us-gov-west-1"),
    Row("endpoints-without-dns", "endpoints in a VPC without DNS", {("aws", "vpc"): {**VPC, "dns_support": False}, ("aws", "vpc_endpoints"): "derived"}, ("aws", "vpc_endpoints"), "DNS"),
    Row("aws-endpoints", "an emulated AWS for the operator alone", {("aws", "endpoints"): {"operator": "http://127.0.0.1:4580"}}, ("aws", "endpoints"), "onprem and cloud"),
    Row("aws-endpoints", "requests in clear text to another host", {("aws", "endpoints"): dict.fromkeys(("operator", "onprem", "cloud"), "http://aws.example.org")}, ("aws", "endpoints", "cloud"), "https"),
    Row("account-number", "an account of zeros", {("aws", "account"): "000000000000"}, ("aws", "account"), "the account"),
    Row("account-missing", "ids of one account, whose number is not said", {("aws", "vpc"): VPC}, ("aws",), "account"),
    Row("ingress-ports", "tcp without ports", come(), (*INGRESS, 0, "ports"), "443"),
    Row("ingress-ports", "icmp with ports", come(protocol="icmp", ports="8"), (*INGRESS, 0, "ports"), "no ports"),
    Row("ingress-ports", "every protocol, but one port", come(protocol="all", ports="443"), (*INGRESS, 0, "ports"), "no ports"),
    Row("ingress-ports", "a range of ports backwards", come(ports="9100-9000"), (*INGRESS, 0, "ports"), "9000-9100"),
    Row("ingress-ports", "a port above 65535", come(ports="70000"), (*INGRESS, 0, "ports"), "65535"),
    Row("ingress-ports", "port 0", come(ports="0"), (*INGRESS, 0, "ports"), "65535"),
    Row("administration-open", "ssh from anywhere", come("0.0.0.0/0", ports="22"), (*INGRESS, 0, "source"), "ssh"),
    Row("administration-open", "every port from anywhere", come("0.0.0.0/0", protocol="all"), (*INGRESS, 0, "source"), "and more"),
    Row("administration-open", "slurmd in a range open to half the internet", come("128.0.0.0/1", ports="6000-7000"), (*INGRESS, 0, "source"), "slurmd"),
    Row("ingress-from-internet", "a service for everybody", come("0.0.0.0/0", ports="8443"), (*INGRESS, 0, "source"), "internet"),
    Row("ingress-from-internet", "a provider's whole range", come("52.95.0.0/16", ports="8443"), (*INGRESS, 0, "source"), "65536"),
    Row("repeated-ingress", "the same entry twice", many({"source": "10.30.0.0/16", "ports": "443"}, {"source": "10.30.0.0/16", "ports": "443"}), (*INGRESS, 1), "the same"),
    Row("repeated-ingress", "an entry inside another one", many({"source": "10.30.1.0/24", "ports": "443"}, {"source": "10.30.0.0/16", "ports": "400-500"}), (*INGRESS, 0), "and more"),
    Row("ingress-built-in", "ssh for the on-prem site", come("10.20.0.0/16", ports="22"), (*INGRESS, 0), "the rule exists already for the on-prem"),
    Row("wide-ingress", "every port for another team", come(ports="1-65535"), (*INGRESS, 0, "ports"), "65535 ports"),
    Row("wide-ingress", "every protocol for another team", come(protocol="all"), (*INGRESS, 0, "protocol"), "every protocol"),
    Row("security-group-rules", "more rules than a security group takes", many(*({"source": f"10.30.{n}.0/24", "ports": "443"} for n in range(60))), INGRESS, "60"),
]  # fmt: skip
