"""DNS zones, domains and servers, planned from an environment alone."""

from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment import DnsSettings
from landbridge.findings import DataPath
from landbridge.plan.cost import spend
from landbridge.plan.cost.dns import dns_spend
from landbridge.plan.network import dns, dns_records
from landbridge.plan.network.addresses import ip_budget
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.network.reserved_ranges import HOSTS, reserved_range
from landbridge.plan.network.subnets import subnets
from tests.unit.core.samples import environment, findings, shipped

TWO = {("aws", "pools", 0, "capacity"): [{"kind": "on_demand", "zones": ["use1-az6", "use1-az4", "use1-az2"]}]}


def named(text: dict[str, Any] | None = None, **settings: Any) -> dict[DataPath, Any]:
    changes: dict[DataPath, Any] = {**TWO, ("dns",): text or {}}
    return changes | {tuple(key.split("__")): value for key, value in settings.items()}


def test_no_dns_is_planned_without_the_key() -> None:
    assert dns.dns_args(environment()) is None and dns_records.dns_records_args(environment()) is None
    assert dns.aws_domains(environment()) == () == dns.site_domains(environment())


def test_the_default_settings_give_a_complete_plan() -> None:
    assert [finding for finding in findings(named()) if finding.rule.startswith("dns")] == []
    args = dns.dns_args(environment(named()))
    assert args is not None and args.site is not None
    assert args.zone == "aws.cluster.internal" and [address.zone for address in args.inbound] == [
        "use1-az6",
        "use1-az4",
    ]
    assert args.site.servers == ("10.20.0.1", "10.20.0.11") and args.site.cidrs == ("10.20.0.0/16",)
    assert [forward.domain for forward in args.site.forwards] == ["cluster.internal", "20.10.in-addr.arpa"]
    assert args.logs is None


@pytest.mark.parametrize(
    ("query_logs", "flow", "logged"),
    [(None, False, False), (None, True, True), (True, False, True), (False, True, False)],
)
def test_queries_are_logged_if_flows_are_unless_the_file_sets_it(
    query_logs: bool | None, flow: bool, logged: bool
) -> None:
    text = {} if query_logs is None else {"query_logs": query_logs}
    args = dns.dns_args(environment({**named(text), ("aws", "logs"): {"flow_logs": flow}}))
    assert args is not None and (args.logs is not None) == logged


def test_a_further_zone_moves_no_endpoint() -> None:
    before = dns.endpoint_zones(environment(named()))
    more = {
        "name": "more",
        "instance": "g5.12xlarge",
        "max_nodes": 1,
        "capacity": [{"kind": "spot", "zones": ["use1-az1"]}],
    }
    assert dns.endpoint_zones(environment({**named(), ("aws", "pools", 1): more})) == before
    assert dns.endpoint_zones(environment({("dns",): {}})) == ("use1-az4", "use1-az4")


def test_domains_with_private_answers_are_forwarded_to_the_vpc() -> None:
    changes = named({"zone": "aws.example.org"}, storage={"cloud_scratch": {"kind": "fsx_lustre", "zone": "use1-az6"}})
    domains = dns.aws_domains(environment(changes))
    assert domains[0] == "aws.example.org" and domains[-1] == "60.10.in-addr.arpa"
    assert {"secretsmanager.us-east-1.amazonaws.com", "fsx.us-east-1.amazonaws.com"} <= set(domains)
    # With a NAT gateway the services have public addresses, and no query goes through the link.
    open_ = dns.aws_domains(environment({**named({"reverse": False}), ("aws", "nat"): "single"}))
    assert open_ == ("aws.cluster.internal",)


@pytest.mark.parametrize(
    ("service", "region", "domain"),
    [
        ("ec2", "us-east-1", "ec2.us-east-1.amazonaws.com"),
        ("ecr.dkr", "eu-central-1", "dkr.ecr.eu-central-1.amazonaws.com"),
        ("sagemaker.runtime", "us-east-1", "runtime.sagemaker.us-east-1.amazonaws.com"),
        ("kms", "us-gov-west-1", "kms.us-gov-west-1.amazonaws.com"),
        ("kms", "cn-north-1", "kms.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_an_endpoint_has_the_domain_of_its_service_and_region(service: str, region: str, domain: str) -> None:
    assert dns.endpoint_domain(service, region) == domain


@given(st.integers(0, 2**32 - 1), st.integers(8, 28))
def test_reverse_domains_cover_exactly_their_range(address: int, prefix: int) -> None:
    cidr = IPv4Network((address, prefix), strict=False)
    zones = dns.reverse_zones(cidr)
    assert len(zones) == len(set(zones)) <= 128
    covered = 0
    for zone in zones:
        octets = zone.removesuffix(".in-addr.arpa").split(".")[::-1]
        part = IPv4Network((".".join([*octets, *["0"] * (4 - len(octets))]), 8 * len(octets)))
        assert part.subnet_of(cidr)
        covered += part.num_addresses
    assert covered == cidr.num_addresses


@given(st.ip_addresses(v=4, network="10.20.0.0/16"))
def test_no_name_server_is_planned_if_the_site_has_resolvers(address: IPv4Address) -> None:
    site = environment(named({"resolvers": [str(address)]}))
    assert name_server_hosts(site) == () and dns.server_addresses(site) == (str(address),)


def test_a_gateway_that_landbridge_does_not_manage_is_no_name_server() -> None:
    line = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "10.99.0.1"}
    assert name_server_hosts(environment(named())) == ("gw01", "ctl01")
    assert name_server_hosts(environment({**named(), ("link",): line})) == ("db01", "ctl01")


def test_names_of_forwarding_rules_are_valid_for_resolver() -> None:
    long = ".".join(["a" * 40, "b" * 40, "example", "org"])
    args = dns.dns_args(environment(named({"forward": [long, "x." + long]})))
    assert args is not None and args.site is not None
    names = [forward.name for forward in args.site.forwards]
    assert len(set(names)) == len(names) and all(len(name) <= 64 and "." not in name for name in names)


def test_the_addresses_of_resolver_endpoints_are_counted_in_their_zones() -> None:
    def endpoint_counts(changes: dict[DataPath, Any]) -> dict[str, int]:
        return {entry.zone: entry.endpoints for entry in ip_budget(environment(changes)) if entry.tier == "private"}

    plain, more = endpoint_counts(dict(TWO)), endpoint_counts(named())
    assert {zone: more[zone] - plain[zone] for zone in plain} == {"use1-az6": 16, "use1-az4": 16, "use1-az2": 0}
    assert endpoint_counts({("dns",): {}})["use1-az4"] - endpoint_counts({})["use1-az4"] == 16


@given(
    prefix=st.integers(16, 28),
    zones=st.sampled_from([["use1-az4"], ["use1-az4", "use1-az6"], ["use1-az6", "use1-az4", "use1-az2"]]),
)
def test_planned_addresses_are_distinct_and_neither_awss_nor_a_hosts(prefix: int, zones: list[str]) -> None:
    cidrs = {zone: f"10.60.{32 * index}.0/{max(prefix, 19)}" for index, zone in enumerate(zones, 1)}
    capacity = [{"kind": "on_demand", "zones": zones}]
    planned = environment({("dns",): {}, ("aws", "subnets"): cidrs, ("aws", "pools", 0, "capacity"): capacity})
    ranges = {subnet.zone: subnet.cidr for subnet in subnets(planned) if subnet.tier == "private"}
    endpoints = [dns.endpoint_addresses(planned, direction) for direction in ("inbound", "outbound")]
    assert all(len(endpoint) == 2 for endpoint in endpoints)
    ips = [(address.zone, IPv4Address(address.ip)) for endpoint in endpoints for address in endpoint if address.ip]
    assert len(ips) == len(set(ips)) == (4 if prefix <= 26 else 0)
    for zone, ip in ips:
        first, last = int(ranges[zone].network_address), int(ranges[zone].broadcast_address)
        hosts = reserved_range(planned, zone, HOSTS)
        assert first + 4 <= int(ip) < last and hosts is not None and ip not in hosts


def test_aws_chooses_the_addresses_in_two_subnets_of_an_existing_vpc() -> None:
    zones = ("use1-az4", "use1-az6")
    given_subnets = {
        zone: {"id": f"subnet-0123456789abcdef{index}", "cidr": f"10.60.{32 * (index + 1)}.0/19"}
        for index, zone in enumerate(zones)
    }
    vpc = {"id": "vpc-0123456789abcdef0", "subnets": given_subnets}
    capacity = {("aws", "pools", 0, "capacity"): [{"kind": "on_demand", "zones": list(zones)}]}
    two = environment({("dns",): {}, ("aws", "vpc"): vpc, **capacity})
    assert [address.ip for address in dns.endpoint_addresses(two, "inbound")] == [None, None]
    single = environment({("dns",): {}, ("aws", "vpc"): vpc})
    assert [address.ip for address in dns.endpoint_addresses(single, "outbound")] == ["10.60.32.34", "10.60.32.35"]


def test_resolver_endpoints_and_a_hosted_zone_have_a_cost() -> None:
    lines = {line.description: line.usd_month for line in spend(environment(named())).lines}
    assert lines["4 addresses of resolver endpoints"] == pytest.approx(4 * 0.125 * 730)
    assert lines["zone aws.cluster.internal"] == pytest.approx(0.5)


def test_services_in_aws_have_records_in_the_zone_and_nothing_is_forwarded() -> None:
    cloud = shipped("startup").model_copy(update={"dns": DnsSettings()})
    args, records = dns.dns_args(cloud), dns_records.dns_records_args(cloud)
    assert args is not None and args.site is None and records is not None
    served = service_hosts(cloud)
    assert records.hosts == {name: str(served.addresses[name]) for name in served.addresses} and records.hosts
    assert dns.resolver_addresses(cloud) == {} and name_server_hosts(cloud) == ()
    assert [item.description for item in dns_spend(cloud)] == ["zone aws.cluster.internal"]
