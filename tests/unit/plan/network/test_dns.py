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
from tests.unit.core.samples import environment, findings, shipped

TWO = {("aws", "pools", 0, "capacity"): [{"kind": "on_demand", "zones": ["use1-az6", "use1-az4", "use1-az2"]}]}


def named(text: dict[str, Any] | None = None, **more: Any) -> dict[DataPath, Any]:
    changes: dict[DataPath, Any] = {**TWO, ("dns",): text or {}}
    return changes | {tuple(key.split("__")): value for key, value in more.items()}


def test_nothing_is_planned_unless_it_is_asked_for() -> None:
    assert dns.dns_args(environment()) is None and dns_records.dns_records_args(environment()) is None
    assert dns.aws_domains(environment()) == () == dns.site_domains(environment())


def test_the_defaults_are_whole() -> None:
    assert [one for one in findings(named()) if one.rule.startswith("dns")] == []
    args = dns.dns_args(environment(named()))
    assert args is not None and args.site is not None
    assert args.zone == "aws.cluster.internal" and args.zones == ("use1-az6", "use1-az4")
    assert args.site.servers == ("10.20.0.1", "10.20.0.11") and args.site.cidrs == ("10.20.0.0/16",)
    assert [one.domain for one in args.site.forwards] == ["cluster.internal", "20.10.in-addr.arpa"]
    assert args.logs is None


@pytest.mark.parametrize(
    ("asked", "flow", "kept"), [(None, False, False), (None, True, True), (True, False, True), (False, True, False)]
)
def test_questions_are_logged_where_flows_are_unless_it_is_said(asked: bool | None, flow: bool, kept: bool) -> None:
    text = {} if asked is None else {"query_logs": asked}
    args = dns.dns_args(environment({**named(text), ("aws", "logs"): {"flow_logs": flow}}))
    assert args is not None and (args.logs is not None) == kept


def test_a_zone_that_comes_later_moves_no_endpoint() -> None:
    before = dns.endpoint_zones(environment(named()))
    more = {
        "name": "more",
        "instance": "g5.12xlarge",
        "max_nodes": 1,
        "capacity": [{"kind": "spot", "zones": ["use1-az1"]}],
    }
    assert dns.endpoint_zones(environment({**named(), ("aws", "pools", 1): more})) == before
    assert dns.endpoint_zones(environment({("dns",): {}})) == ("use1-az4", "use1-az4")


def test_what_answers_otherwise_inside_the_vpc_is_asked_there() -> None:
    changes = named({"zone": "aws.example.org"}, storage={"cloud_scratch": {"kind": "fsx_lustre", "zone": "use1-az6"}})
    domains = dns.aws_domains(environment(changes))
    assert domains[0] == "aws.example.org" and domains[-1] == "60.10.in-addr.arpa"
    assert {"secretsmanager.us-east-1.amazonaws.com", "fsx.us-east-1.amazonaws.com"} <= set(domains)
    # With a way out the services answer under public addresses, and nobody has to ask through the link.
    open_ = dns.aws_domains(environment({**named({"reverse": False}), ("aws", "nat"): "single"}))
    assert open_ == ("aws.cluster.internal",)


@pytest.mark.parametrize(
    ("service", "region", "domain"),
    [
        ("ec2", "us-east-1", "ec2.us-east-1.amazonaws.com"),
        ("ecr.dkr", "eu-central-1", "dkr.ecr.eu-central-1.amazonaws.com"),
        ("sagemaker.runtime", "us-east-1", "runtime.sagemaker.us-east-1.amazonaws.com"),
        ("eks-auth", "us-east-1", "eks-auth.us-east-1.api.aws"),
        ("kms", "us-gov-west-1", "kms.us-gov-west-1.amazonaws.com"),
        ("kms", "cn-north-1", "kms.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_a_service_answers_under_its_regions_name(service: str, region: str, domain: str) -> None:
    assert dns.endpoint_domain(service, region) == domain


@given(st.integers(0, 2**32 - 1), st.integers(8, 28))
def test_reverse_domains_hold_a_range_and_nothing_else(address: int, prefix: int) -> None:
    cidr = IPv4Network((address, prefix), strict=False)
    zones = dns.reverse_zones(cidr)
    assert len(zones) == len(set(zones)) <= 128
    held = 0
    for zone in zones:
        octets = zone.removesuffix(".in-addr.arpa").split(".")[::-1]
        part = IPv4Network((".".join([*octets, *["0"] * (4 - len(octets))]), 8 * len(octets)))
        assert part.subnet_of(cidr)
        held += part.num_addresses
    assert held == cidr.num_addresses


@given(st.ip_addresses(v=4, network="10.20.0.0/16"))
def test_the_sites_own_servers_leave_none_to_make(address: IPv4Address) -> None:
    own = environment(named({"resolvers": [str(address)]}))
    assert name_server_hosts(own) == () and dns.server_addresses(own) == (str(address),)


def test_a_router_is_made_no_name_server() -> None:
    line = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "10.99.0.1"}
    assert name_server_hosts(environment(named())) == ("gw01", "ctl01")
    assert name_server_hosts(environment({**named(), ("link",): line})) == ("db01", "ctl01")


def test_rules_have_names_that_resolver_takes() -> None:
    long = ".".join(["a" * 40, "b" * 40, "example", "org"])
    args = dns.dns_args(environment(named({"forward": [long, "x." + long]})))
    assert args is not None and args.site is not None
    names = [one.name for one in args.site.forwards]
    assert len(set(names)) == len(names) and all(len(name) <= 64 and "." not in name for name in names)


def test_the_addresses_of_endpoints_are_counted_where_they_are() -> None:
    def taken(changes: dict[DataPath, Any]) -> dict[str, int]:
        return {own.zone: own.endpoints for own in ip_budget(environment(changes)) if own.tier == "private"}

    plain, more = taken(dict(TWO)), taken(named())
    assert {zone: more[zone] - plain[zone] for zone in plain} == {"use1-az6": 2, "use1-az4": 2, "use1-az2": 0}
    assert taken({("dns",): {}})["use1-az4"] - taken({})["use1-az4"] == 4


def test_four_addresses_and_a_zone_are_paid_for() -> None:
    lines = {line.what: line.usd_month for line in spend(environment(named())).lines}
    assert lines["4 addresses of resolver endpoints"] == pytest.approx(4 * 0.125 * 730)
    assert lines["zone aws.cluster.internal"] == pytest.approx(0.5)


def test_services_in_aws_have_names_in_the_zone_and_nobody_is_forwarded_to() -> None:
    cloud = shipped("startup").model_copy(update={"dns": DnsSettings()})
    args, records = dns.dns_args(cloud), dns_records.dns_records_args(cloud)
    assert args is not None and args.site is None and records is not None
    served = service_hosts(cloud)
    assert records.hosts == {name: str(served.addresses[name]) for name in served.addresses} and records.hosts
    assert dns.resolver_addresses(cloud) == {} and name_server_hosts(cloud) == ()
    assert [item.what for item in dns_spend(cloud)] == ["zone aws.cluster.internal"]
