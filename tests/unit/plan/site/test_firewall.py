"""Port matrix of the firewall: services are open to their clients only, and SSH is open to operators."""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.node_networks import node_ranges
from landbridge.plan.roles.nfs_server import MOUNTD_PORT
from landbridge.plan.site.firewall import firewall_rule_lines, firewall_rules, firewall_variables
from tests.unit.core.samples import REMOVED, environment


def open_at(chosen: Environment, host: str, source: str, port: int, protocol: str = "tcp") -> bool:
    """Return whether the table of this host accepts a connection."""
    groups = [*next(entry.groups for entry in hosts(chosen) if entry.name == host), host]
    for group in groups:
        for rule in firewall_rules(chosen).get(group, ()):
            from_source = not rule.sources or any(
                IPv4Address(source) in IPv4Network(network) for network in rule.sources
            )
            spans = [(int(span.partition("-")[0]), int(span.rpartition("-")[2])) for span in rule.ports]
            at_port = not spans or any(first <= port <= last for first, last in spans)
            if from_source and rule.protocol in (protocol, "all") and at_port:
                return True
    return False


CTL, DB, LOGIN, NFS, MLOPS, NODE = ("10.20.0.11", "10.20.0.12", "10.20.0.13", "10.20.0.14", "10.20.0.15", "10.20.1.12")
CLOUD, STRANGER, DESK = "10.60.40.7", "192.0.2.9", "10.20.200.1"
ROWS = [
    # Connections of Slurm. Source: Slurm's Network Configuration Guide.
    ("ctl01", NODE, 6817, True), ("ctl01", LOGIN, 6817, True), ("ctl01", DB, 6817, True), ("ctl01", CLOUD, 6817, True),
    ("db01", CTL, 6819, True), ("db01", LOGIN, 6819, True), ("db01", CLOUD, 6819, False), ("db01", NODE, 3306, False),
    ("dgx01", CTL, 6818, True), ("dgx01", LOGIN, 6818, True), ("dgx01", CLOUD, 6818, True), ("dgx01", NODE, 6818, True),
    ("login01", CTL, 6818, True), ("login01", NODE, 61234, True), ("login01", CLOUD, 61234, True),
    # Jobs between nodes only.
    ("dgx01", NODE, 29500, True), ("dgx01", LOGIN, 29500, False), ("dgx01", CLOUD, 29500, False),
    # The metrics of slurmctld have no authentication.
    ("ctl01", DESK, 6817, False), ("ctl01", STRANGER, 6817, False),
    ("nfs01", NODE, 2049, True), ("nfs01", CLOUD, 2049, True), ("nfs01", STRANGER, 2049, False), ("nfs01", NODE, 111, False),
    ("mlops01", CLOUD, 5000, True), ("mlops01", DESK, 5000, True), ("mlops01", STRANGER, 5000, False),
    ("gw01", STRANGER, 179, False), ("gw01", "169.254.10.1", 179, True),
    ("login01", STRANGER, 22, True),
]  # fmt: skip


@pytest.mark.parametrize(("host", "source", "port", "opened"), ROWS)
def test_each_port_is_open_to_its_clients_only(host: str, source: str, port: int, opened: bool) -> None:
    assert open_at(environment({}), host, source, port) is opened


def test_the_gateway_accepts_ike_from_anywhere_and_dns_from_both_sites() -> None:
    chosen = environment({("dns",): {"zone": "aws.gpu.example.org"}})
    assert open_at(chosen, "gw01", STRANGER, 4500, "udp") and open_at(chosen, "gw01", STRANGER, 500, "udp")
    assert open_at(chosen, "gw01", CLOUD, 53, "udp") and open_at(chosen, "gw01", NODE, 53)
    assert not open_at(environment({}), "gw01", NODE, 53)


def test_ports_of_nfs_version_3_are_open_for_ganesha() -> None:
    chosen = environment({("storage",): {"home": {"kind": "nfs", "server": "ganesha"}}})
    template = Path(__file__).parents[4] / "ansible/roles/nfs_server/templates/ganesha.conf.j2"
    assert all(open_at(chosen, "nfs01", NODE, port) for port in (111, 2049, MOUNTD_PORT))
    assert f"MNT_Port = {MOUNTD_PORT};" in template.read_text()


def test_an_environment_without_aws_has_no_port_open_to_it() -> None:
    chosen = environment(
        {("aws", "pools"): [], ("link",): REMOVED, ("storage",): {"home": {"kind": "nfs", "on_cloud_nodes": False}}}
    )
    assert not open_at(chosen, "ctl01", CLOUD, 6817) and not open_at(chosen, "nfs01", CLOUD, 2049)
    assert not open_at(chosen, "gw01", STRANGER, 4500, "udp")


def test_a_further_node_of_a_range_changes_no_rule() -> None:
    more = environment({("onprem", "nodes", 0, "hosts"): "dgx[01-40]"})
    assert firewall_variables(more) == firewall_variables(environment({}))
    assert firewall_rules(more) == firewall_rules(environment({}))


def test_a_node_range_over_a_network_boundary_becomes_two_networks() -> None:
    wide = environment(
        {("onprem", "nodes", 0): {"hosts": "dgx[001-300]", "platform": "dgx-h100", "address": "10.20.4.250"}}
    )
    assert [str(network) for network in node_ranges(wide)] == ["10.20.4.0/23", "10.20.6.0/24"]


def test_slurms_ports_are_those_of_the_overrides() -> None:
    ports = {"SlurmctldPort": 7000, "slurmdport": 7001}
    chosen = environment({("scheduler", "overrides"): {"slurm_conf": ports}})
    assert open_at(chosen, "ctl01", NODE, 7000) and not open_at(chosen, "ctl01", NODE, 6817)
    assert open_at(chosen, "dgx01", CTL, 7001) and not open_at(chosen, "login01", NODE, 40000)
    anywhere = environment({("scheduler", "overrides"): {"slurm_conf": {"SrunPortRange": None}}})
    assert open_at(anywhere, "login01", NODE, 40000)


def test_a_rule_for_a_host_applies_to_that_host_only() -> None:
    rule = {"at": "mlops01", "source": "192.0.2.0/24", "ports": "5000", "why": "desks"}
    chosen = environment({("hosts",): {"firewall": {"rules": [rule]}}})
    assert open_at(chosen, "mlops01", STRANGER, 5000) and not open_at(chosen, "ctl01", STRANGER, 5000)


def test_ssh_permits_the_operators_user_port_and_sources() -> None:
    def variables(**changes: Any) -> dict[str, Any]:
        return firewall_variables(
            environment({("onprem", "access"): changes.get("access", {}), ("hosts",): changes.get("hosts", {})})
        )

    assert variables()["hardening_ssh_sources"] == [] and variables()["hardening_ssh_root"] == "no"
    assert variables(access={"user": "root"})["hardening_ssh_root"] == "keys"
    assert variables(access={"port": 2222})["hardening_ssh_ports"] == [22, 2222]
    narrow = variables(hosts={"firewall": {"operators": ["10.9.0.0/24"]}})
    # Login hosts too: users log in to the nodes of their jobs from there.
    assert narrow["hardening_ssh_sources"] == ["10.9.0.0/24", f"{LOGIN}/32", f"{CTL}/32"]


def test_the_inventory_has_the_firewall_for_on_prem_hosts_and_not_for_images() -> None:
    data = inventory(environment({}))
    assert data["onprem"]["vars"]["hardening_firewall"] == "enforce"
    assert not any(key.startswith("hardening") for key in data["all"]["vars"])


def test_the_port_matrix_is_printed_as_readable_lines() -> None:
    lines = list(firewall_rule_lines(environment({("hosts",): {"firewall": {"operators": ["10.9.0.0/24"]}}})))
    assert lines[0] == "every host        tcp 22 from 10.9.0.0/24, 10.20.0.13, 10.20.0.11: operators"
    assert (
        "slurm_database    tcp 6819 from 10.20.0.11, 10.20.0.13, 10.20.1.0/24: slurmctld, sacct and sacctmgr reach slurmdbd"
        in lines
    )
    assert any(line.startswith("slurm_node        everything from 10.20.1.0/24: jobs use any port") for line in lines)
    assert any(line.startswith("site_gateway      esp from anywhere:") for line in lines)


def test_no_source_range_of_a_rule_overlaps_another() -> None:
    # nft refuses a set with overlapping ranges, and then no host has a firewall.
    nodes = {"hosts": "dgx[01-02]", "platform": "dgx-h100", "address": "10.20.0.101"}
    operators = {"firewall": {"operators": ["10.20.0.0/24", "10.20.0.0/16"]}}
    chosen = environment({("onprem", "nodes", 0): nodes, ("hosts",): operators})
    for sources in (
        *(rule.sources for rules in firewall_rules(chosen).values() for rule in rules),
        firewall_variables(chosen)["hardening_ssh_sources"],
    ):
        networks = [IPv4Network(source) for source in sources]
        assert not [
            network for network in networks if any(other != network and network.overlaps(other) for other in networks)
        ]
    assert open_at(chosen, "ctl01", "10.20.0.102", 6817) and open_at(chosen, "dgx01", CTL, 6818)
