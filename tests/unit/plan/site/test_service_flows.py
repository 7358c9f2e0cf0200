"""Ports of services for nodes in AWS: the on-prem firewall and the nodes' security group have the same list."""

from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.aws.login import login_args
from landbridge.plan.aws.pool import SecurityGroupRule, pool_security_group_rules
from landbridge.plan.aws.slurm_controller import slurm_controller_args
from landbridge.plan.network.service_flows import SITE_SERVER, port_range, service_flows
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.site.firewall import firewall_rules
from tests.unit.core.samples import SHIPPED, environment, shipped

Ports = tuple[str, tuple[int, int]]
OVERRIDES: dict[DataPath, Any] = {
    ("scheduler", "overrides"): {"slurm_conf": {"SlurmctldPort": "7000-7003", "SrunPortRange": "50000-50999"}}
}
CHANGES: list[dict[DataPath, Any]] = [
    {},
    OVERRIDES,
    {("storage", "home"): {"kind": "nfs", "on_cloud_nodes": False}},
    {("storage", "home"): {"kind": "nfs", "server": "ganesha"}},
    {("mlops",): {"mlflow": {"port": 8080}}},
    {
        ("data_classes", "partner"): {"sites": ["onprem", "aws"]},
        ("scheduler", "accounts", "lab"): {"users": ["alice"], "data_class": "partner"},
    },
]


def to_services(chosen: Environment) -> list[SecurityGroupRule]:
    return [rule for rule in pool_security_group_rules(chosen) if rule.key.startswith("services-")]


def opened_from_aws(chosen: Environment) -> set[Ports]:
    """Return the ports that the on-prem firewall opens to nodes in AWS, besides those of name servers."""
    cloud = set(map(str, aws_ranges(chosen)))
    return {
        (rule.protocol, port_range(ports))
        for group, rules in firewall_rules(chosen).items()
        for rule in rules
        if group != "site_dns" and cloud & set(rule.sources)
        for ports in rule.ports
    }


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_nodes_may_leave_by_the_ports_that_the_site_opens_to_them(changes: dict[DataPath, Any]) -> None:
    chosen = environment(changes)
    outward = {(rule.protocol, rule.ports) for rule in to_services(chosen)}
    assert outward == opened_from_aws(chosen)


@pytest.mark.parametrize("name", [path.name.split(".")[1] for path in SHIPPED])
def test_no_shipped_environment_opens_all_protocols_to_a_network(name: str) -> None:
    rules = [rule for rule in pool_security_group_rules(shipped(name)) if rule.peer != "self"]
    assert [rule.key for rule in rules if rule.protocol == "-1" or (rule.protocol != "icmp" and not rule.ports)] == []
    pairs = [(rule.direction, rule.peer, rule.protocol, rule.ports) for rule in rules]
    assert len(pairs) == len(set(pairs)), "EC2 refuses a duplicate rule"


def test_site_servers_have_the_ports_of_their_urls() -> None:
    changes: dict[DataPath, Any] = {
        ("hosts", "time_servers"): ["ntp1.example.org"],
        ("hosts", "directory"): {"uris": ["ldaps://a.example.org", "ldap://b.example.org:3890"], "base": "dc=example"},
        ("containers", "mirrors"): {"nvcr.io": {"location": "cache01:5000/nvcr"}, "docker.io": {"location": "cache01"}},
        ("storage", "home"): {"kind": "external_nfs", "host": "filer", "export": "/vol/home"},
    }
    chosen = environment({**changes, ("aws", "endpoints"): {"cloud": "http://10.20.0.5:4580"}})
    ports = {(flow.protocol, flow.ports) for flow in service_flows(chosen) if flow.group == SITE_SERVER}
    assert ports == {
        ("udp", "123"),
        ("tcp", "636"),
        ("tcp", "3890"),
        ("tcp", "5000"),
        ("tcp", "443"),
        ("tcp", "2049"),
        ("tcp", "4580"),
    }
    assert {(rule.protocol, rule.ports) for rule in to_services(chosen)} >= {
        (protocol, port_range(text)) for protocol, text in ports
    }
    bound = environment({**changes, ("hosts", "directory", "bind_dn"): "cn=reader,dc=example"})
    assert ("tcp", "636") not in {(flow.protocol, flow.ports) for flow in service_flows(bound)}


def test_services_in_aws_accept_the_ports_by_which_nodes_leave() -> None:
    chosen = shipped("startup")
    controller, login = slurm_controller_args(chosen), login_args(chosen)
    assert controller is not None and login is not None
    cidr = str(chosen.aws.cidr)
    accepted = {
        (rule.protocol, rule.ports)
        for rule in (*controller.security_group_rules, *login.security_group_rules)
        if rule.direction == "in" and rule.peer == cidr and rule.protocol != "icmp"
    }
    assert {(rule.protocol, rule.ports) for rule in to_services(chosen)} == accepted


def test_an_egress_entry_of_the_file_is_a_rule_of_its_own() -> None:
    entry = {"destination": "10.20.7.0/28", "ports": "27000-27009", "why": "license servers"}
    chosen = environment({("aws", "egress"): [entry]})
    (rule,) = (rule for rule in pool_security_group_rules(chosen) if rule.key.startswith("egress"))
    assert (rule.direction, rule.peer, rule.protocol, rule.ports) == ("out", "10.20.7.0/28", "tcp", (27000, 27009))
