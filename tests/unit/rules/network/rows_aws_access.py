"""Mistakes with the VPC's access to AWS, and with ingress."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

VPC = {
    "id": "vpc-0123456789abcdef0",
    "subnets": {"use1-az4": {"id": "subnet-0123456789abcdef0", "cidr": "10.60.0.0/20"}},
}
INGRESS: DataPath = ("aws", "ingress")
EGRESS: DataPath = ("aws", "egress")
LICENSES = {"destination": "10.20.7.0/28", "ports": "27000", "why": "license servers"}
WHY = "the metrics of another team"


def ingress(source: str = "10.30.0.0/16", **more: Any) -> dict[DataPath, Any]:
    """Return the changes for one entry of aws.ingress."""
    return {INGRESS: [{"source": source, "why": WHY, **more}]}


def egress(destination: str = "10.20.7.0/28", **more: Any) -> dict[DataPath, Any]:
    """Return the changes for one entry of aws.egress."""
    entry = {**LICENSES, "destination": destination, **more}
    return {EGRESS: [{key: value for key, value in entry.items() if value is not None}]}


def many(*entries: dict[str, Any]) -> dict[DataPath, Any]:
    """Return the changes for several entries of aws.ingress."""
    return {INGRESS: [{"why": WHY, **entry} for entry in entries]}


ROWS = [
    Row("closed-network", "neither NAT nor the endpoints for it", {("aws", "vpc_endpoints"): "gateway"}, ("aws", "vpc_endpoints"), "secretsmanager"),
    Row("endpoint-not-in-region", "a closed network in a region whose endpoints are unknown", {("aws", "vpc_endpoints"): "derived"}, ("aws", "vpc_endpoints"), "not record", region="us-gov-west-1"),
    Row("endpoints-without-dns", "endpoints in a VPC without DNS", {("aws", "vpc"): {**VPC, "dns_support": False}, ("aws", "vpc_endpoints"): "derived"}, ("aws", "vpc_endpoints"), "DNS"),
    Row("aws-endpoints", "an emulated AWS for the operator alone", {("aws", "endpoints"): {"operator": "http://127.0.0.1:4580"}}, ("aws", "endpoints"), "onprem and cloud"),
    Row("aws-endpoints", "requests in clear text to another host", {("aws", "endpoints"): dict.fromkeys(("operator", "onprem", "cloud"), "http://aws.example.org")}, ("aws", "endpoints", "cloud"), "https"),
    Row("account-number", "an account of zeros", {("aws", "account"): "000000000000"}, ("aws", "account"), "the account"),
    Row("account-missing", "ids of an account without its number", {("aws", "vpc"): VPC}, ("aws",), "account"),
    Row("egress-ports", "udp without ports", egress(protocol="udp", ports=None), (*EGRESS, 0, "ports"), "443"),
    Row("egress-ports", "a destination with a range of ports backwards", egress(ports="9100-9000"), (*EGRESS, 0, "ports"), "9000-9100"),
    Row("egress-repeated", "MLflow, which nodes reach already", egress("10.20.0.0/16", ports="5000"), (*EGRESS, 0), "MLflow"),
    Row("egress-repeated", "the same destination twice", {EGRESS: [{**LICENSES}, {**LICENSES, "ports": "27000-27000"}]}, (*EGRESS, 1), "entry 1"),
    Row("wide-egress", "any destination", egress("0.0.0.0/0"), (*EGRESS, 0, "destination"), "internet"),
    Row("wide-egress", "every protocol to a network", egress(protocol="all", ports=None), (*EGRESS, 0, "protocol"), "every protocol"),
    Row("egress-rule-count", "more rules than a group may have", {EGRESS: [{**LICENSES, "ports": str(port)} for port in range(2000, 2060)]}, EGRESS, "AWS allows"),
    Row("ingress-ports", "tcp without ports", ingress(), (*INGRESS, 0, "ports"), "443"),
    Row("ingress-ports", "icmp with ports", ingress(protocol="icmp", ports="8"), (*INGRESS, 0, "ports"), "no ports"),
    Row("ingress-ports", "every protocol, but one port", ingress(protocol="all", ports="443"), (*INGRESS, 0, "ports"), "no ports"),
    Row("ingress-ports", "a range of ports backwards", ingress(ports="9100-9000"), (*INGRESS, 0, "ports"), "9000-9100"),
    Row("ingress-ports", "a port above 65535", ingress(ports="70000"), (*INGRESS, 0, "ports"), "65535"),
    Row("ingress-ports", "port 0", ingress(ports="0"), (*INGRESS, 0, "ports"), "65535"),
    Row("administration-open", "ssh from anywhere", ingress("0.0.0.0/0", ports="22"), (*INGRESS, 0, "source"), "ssh"),
    Row("administration-open", "every port from anywhere", ingress("0.0.0.0/0", protocol="all"), (*INGRESS, 0, "source"), "and more"),
    Row("administration-open", "slurmd in a range open to half the internet", ingress("128.0.0.0/1", ports="6000-7000"), (*INGRESS, 0, "source"), "slurmd"),
    Row("ingress-from-internet", "a service for everybody", ingress("0.0.0.0/0", ports="8443"), (*INGRESS, 0, "source"), "internet"),
    Row("ingress-from-internet", "a provider's whole range", ingress("52.95.0.0/16", ports="8443"), (*INGRESS, 0, "source"), "65536"),
    Row("repeated-ingress", "the same entry twice", many({"source": "10.30.0.0/16", "ports": "443"}, {"source": "10.30.0.0/16", "ports": "443"}), (*INGRESS, 1), "the same"),
    Row("repeated-ingress", "an entry inside another one", many({"source": "10.30.1.0/24", "ports": "443"}, {"source": "10.30.0.0/16", "ports": "400-500"}), (*INGRESS, 0), "and more"),
    Row("ingress-built-in", "ssh for the on-prem site", ingress("10.20.0.0/16", ports="22"), (*INGRESS, 0), "the rule exists already for the on-prem"),
    Row("wide-ingress", "every port for another team", ingress(ports="1-65535"), (*INGRESS, 0, "ports"), "65535 ports"),
    Row("wide-ingress", "every protocol for another team", ingress(protocol="all"), (*INGRESS, 0, "protocol"), "every protocol"),
    Row("security-group-rules", "more rules than a security group takes", many(*({"source": f"10.30.{n}.0/24", "ports": "443"} for n in range(60))), INGRESS, "60"),
]  # fmt: skip
