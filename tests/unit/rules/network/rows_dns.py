"""Mistakes with names across the link."""

from tests.unit.rules.parts import POOL, SCRATCH, SHARES
from tests.unit.rules.row import Row

DNS = ("dns",)
TWO_ZONES = {(*POOL, "capacity"): [{"kind": "on_demand", "zones": ["use1-az4", "use1-az6"]}]}
VPC = {
    "id": "vpc-0123456789abcdef0",
    "dns_support": False,
    "subnets": {"use1-az4": {"id": "subnet-0123456789abcdef0", "cidr": "10.60.32.0/19"}},
}

ROWS = [
    Row("dns-zone", "a zone that hides the site's own", {**TWO_ZONES, DNS: {"zone": "cluster.internal"}}, (*DNS, "zone"), "aws.cluster.internal"),
    Row("dns-zone", "a zone above a domain of the site", {**TWO_ZONES, DNS: {"zone": "example.org", "forward": ["corp.example.org"]}}, (*DNS, "zone"), "corp.example.org"),
    Row("dns-zone", "a zone of AWS's", {**TWO_ZONES, DNS: {"zone": "gpu.compute.internal"}}, (*DNS, "zone"), "compute.internal"),
    Row("dns-forward", "AWS's names forwarded to the site", {**TWO_ZONES, DNS: {"forward": ["amazonaws.com"]}}, (*DNS, "forward", 0), "and the VPC"),
    Row("dns-forward", "a domain inside the zone", {**TWO_ZONES, DNS: {"forward": ["x.aws.cluster.internal"]}}, (*DNS, "forward", 0), "hosted zone"),
    Row("dns-forward", "a domain that is forwarded by default", {**TWO_ZONES, DNS: {"forward": ["cluster.internal"]}}, (*DNS, "forward", 0), "already"),
    Row("dns-servers", "an unknown name server", {**TWO_ZONES, DNS: {"servers": ["gw02"]}}, (*DNS, "servers", 0), "gw01"),
    Row("dns-servers", "a GPU node as a name server", {**TWO_ZONES, DNS: {"servers": ["gw01", "dgx01"]}}, (*DNS, "servers", 1), "configures"),
    Row("dns-servers", "one name server twice", {**TWO_ZONES, DNS: {"servers": ["gw01", "gw01"]}}, (*DNS, "servers", 1), "the name server gw01 is repeated"),
    Row("dns-servers", "name servers beside the site's own", {**TWO_ZONES, DNS: {"servers": ["gw01"], "resolvers": ["10.20.0.53", "10.20.0.54"]}}, (*DNS, "servers"), "dns.servers has no effect: the site has"),
    Row("dns-servers", "an upstream for name servers that Landbridge does not configure", {**TWO_ZONES, DNS: {"resolvers": ["10.20.0.53", "10.20.0.54"], "upstream": ["10.20.0.55"]}}, (*DNS, "upstream"), "dns.upstream has no effect: dns.resolvers are not"),
    Row("dns-names", "two file systems of one name", {**TWO_ZONES, SCRATCH: {"kind": "fsx_lustre", "zone": "use1-az4"}, (*SHARES, "cloud-scratch"): {"kind": "efs", "mount": "/x"}, DNS: {}}, (*SHARES, "cloud-scratch"), "cloud-scratch.aws.cluster.internal is the name of two records"),
    Row("dns-reach", "name servers outside the ranges of the link", {**TWO_ZONES, DNS: {"resolvers": ["10.20.0.53", "10.99.0.53"]}}, (*DNS, "resolvers", 1), "no range"),
    Row("dns-one-server", "one name server", {**TWO_ZONES, DNS: {"resolvers": ["10.20.0.53"]}}, (*DNS, "resolvers"), "second"),
    Row("dns-one-zone", "endpoints in one zone", {DNS: {}}, DNS, "use1-az4"),
    Row("dns-addresses", "endpoints in one small subnet", {("aws", "subnets"): {"use1-az4": "10.60.128.0/27"}, DNS: {}}, DNS, "/26"),
    Row("dns-without-zone", "endpoints without a zone", {("aws", "pools"): [], DNS: {}}, DNS, "add a pool"),
    Row("dns-vpc-attributes", "a hosted zone in a VPC without DNS support", {("aws", "vpc"): VPC, DNS: {}}, DNS, "DNS attributes"),
]  # fmt: skip
