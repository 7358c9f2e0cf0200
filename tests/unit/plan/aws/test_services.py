"""Plan of the services in AWS: hosts, security group rules, database and state volume."""

from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment import Environment
from landbridge.findings import FindingsError
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.accounting_database import accounting_database_args
from landbridge.plan.aws.login import login_args
from landbridge.plan.aws.machine import MachinePlan, internet_egress_rules
from landbridge.plan.aws.pool import SecurityGroupRule, pool_security_group_rules
from landbridge.plan.aws.slurm_controller import slurm_controller_args
from landbridge.plan.roles.hosts.state_volume import state_volume
from landbridge.plan.standalone import standalone_environment
from tests.unit.plan.ansible.test_cloud_site import BUILT

IMAGE = "ami-0123456789abcdef0"


def served(
    zone: str = "use1-az4", region: str = "us-east-1", aws: dict[str, Any] | None = None, **settings: Any
) -> Environment:
    services = {"zone": zone, "image": IMAGE, **settings}
    return standalone_environment(
        "lab", region, owner="a@b.example", cost_center="1", aws={**(aws or {}), "services": services}
    )


def machines(environment: Environment) -> tuple[MachinePlan, ...]:
    controller, login = slurm_controller_args(environment), login_args(environment)
    assert controller is not None
    return (controller.machine, *(login.machines if login else ()))


@given(count=st.integers(0, 8), cidr=st.sampled_from(["10.60.0.0/16", "10.0.0.0/18", "172.16.0.0/20"]))
def test_each_host_has_its_own_address_in_the_reserved_range(count: int, cidr: str) -> None:
    services = {"zone": "use1-az4", "image": IMAGE, "login": {"count": count}}
    site = standalone_environment(
        "lab", "us-east-1", owner="a@b.example", cost_center="1", cidr=cidr, aws={"services": services}
    )
    planned = machines(site)
    addresses = [IPv4Address(machine.address) for machine in planned]
    assert len(set(addresses)) == len(planned) == count + 1
    assert all(address in IPv4Network(cidr) for address in addresses)
    # A further host changes none of the others.
    more = {**services, "login": {"count": min(count + 1, 8)}}
    larger_site = standalone_environment(
        "lab", "us-east-1", owner="a@b.example", cost_center="1", cidr=cidr, aws={"services": more}
    )
    assert machines(larger_site)[: len(planned)] == planned


def shape(rule: SecurityGroupRule) -> tuple[str, str, str, int | None]:
    return rule.direction, rule.peer, rule.protocol, rule.ports[0] if rule.ports else None


def test_every_connection_between_hosts_is_permitted_by_both_security_groups() -> None:
    """Check both security groups of each connection: egress of the source and ingress of the target."""
    site = served()
    controller, login = slurm_controller_args(site), login_args(site)
    assert controller is not None and login is not None
    groups = {
        "controller": controller.security_group_rules,
        "login": login.security_group_rules,
        "pool": pool_security_group_rules(site),
    }
    connections = (
        ("login", "controller", 6817),
        ("login", "controller", 6819),
        ("login", "controller", 5000),
        ("login", "pool", 6818),
        ("pool", "controller", 6817),
        ("pool", "controller", 5000),
        ("pool", "login", 60001),
        ("controller", "pool", 6818),
        ("controller", "login", 6818),
    )
    addresses = {"controller": "10.60.128.16", "login": "10.60.128.17", "pool": "10.60.200.9"}
    for source, target, port in connections:
        for group, direction, peer in ((source, "out", target), (target, "in", source)):
            assert any(
                rule.direction == direction
                and rule.peer != "self"
                and IPv4Address(addresses[peer]) in IPv4Network(rule.peer)
                and rule.protocol in ("tcp", "-1")
                and (rule.ports is None or rule.ports[0] <= port <= rule.ports[1])
                for rule in groups[group]
            ), (source, target, port, group)


def test_the_rules_of_a_group_are_unique_and_below_the_quota() -> None:
    site = served(aws={"secondary_cidrs": ["10.61.0.0/16", "10.62.0.0/16", "10.63.0.0/16", "10.64.0.0/16"]})
    controller, login = slurm_controller_args(site), login_args(site)
    assert controller is not None and login is not None
    for security_group_rules in (controller.security_group_rules, login.security_group_rules):
        for direction in ("in", "out"):
            assert sum(rule.direction == direction for rule in security_group_rules) < 60
        assert (
            len({rule.key for rule in security_group_rules})
            == len(security_group_rules)
            == len({shape(rule) for rule in security_group_rules})
        )


@pytest.mark.parametrize(
    ("packages", "ports"),
    [
        ({}, {443, 80}),
        ({"apt_proxy": "http://10.60.0.9:3142"}, {443, 3142}),
        ({"apt_proxy": "https://proxy.example.org"}, {443}),
        ({"python_find_links": "http://10.60.0.9:3143/"}, {443, 80, 3143}),
    ],
)
def test_a_host_has_egress_to_its_package_sources(packages: dict[str, str], ports: set[int]) -> None:
    services = served(packages=packages).aws.services
    assert services is not None
    assert {rule.ports[0] for rule in internet_egress_rules(services) if rule.ports} == ports
    assert all(rule.direction == "out" for rule in internet_egress_rules(services))


def test_a_database_of_another_series_has_its_own_parameter_group() -> None:
    old, new = (accounting_database_args(served(database={"version": version})) for version in ("11.4", "11.8"))
    assert old is not None and new is not None
    assert (old.name, old.family, new.family) == (new.name, "mariadb11.4", "mariadb11.8")
    assert old.parameter_group != new.parameter_group
    assert old.parameters["require_secure_transport"] == "1"


@pytest.mark.parametrize(("storage", "most"), [(20, 100), (100, 400), (6144, 24_576)])
def test_the_database_storage_grows_up_to_a_maximum(storage: int, most: int) -> None:
    database = accounting_database_args(served(database={"storage_gib": storage}))
    assert database is not None and (database.storage_gib, database.most_gib) == (storage, most)


def test_a_database_has_two_zones_independent_of_the_pools() -> None:
    default, named = accounting_database_args(served()), accounting_database_args(served(standby_zone="use1-az6"))
    assert default is not None and named is not None
    assert default.zones == ("use1-az4", "use1-az5") and named.zones == ("use1-az4", "use1-az6")


def test_a_host_without_an_address_is_a_finding() -> None:
    site = served(aws={"subnets": {"use1-az4": "10.60.0.0/28", "use1-az5": "10.60.1.0/28"}})
    with pytest.raises(FindingsError, match="ctl01 has no address"):
        slurm_controller_args(site)


def test_no_service_in_aws_is_planned_without_the_key() -> None:
    site = standalone_environment("lab", "us-east-1", owner="a@b.example", cost_center="1")
    assert (slurm_controller_args(site), login_args(site), accounting_database_args(site)) == (None, None, None)
    assert state_volume(site, None) == {}


def test_a_host_downloads_the_agent_from_the_bucket_of_its_region() -> None:
    text = machines(served())[0].user_data
    assert "https://s3.us-east-1.amazonaws.com/amazon-ssm-us-east-1/" in text and "@URL@" not in text


def test_the_controller_uses_its_instance_profile_and_a_state_volume() -> None:
    site = served()
    data = inventory(site, BUILT)
    controller, burst = data["slurm_controller"]["vars"], data["burst"]["vars"]
    assert burst["burst_metadata"] is True and burst["burst_config"]["credentials_file"] is None
    assert controller["state_volume_id"] == "vol-1"
    folders = {folder["path"]: folder for folder in controller["state_volume_folders"]}
    # The state directory of slurm.conf is on the volume, and so are the journal and MLflow's database.
    assert any("/var/lib/slurm/slurmctld".startswith(path) for path in folders)
    assert {"/var/lib/landbridge", "/var/lib/postgresql"} <= set(folders)
    assert {folder["uid"] for folder in folders.values() if folder["owner"] == "slurm"} == {64030}
    # Users that may query the metadata service: the burst controller and MLflow, besides root.
    assert set(controller["metadata_guard_users"]) == {0, 64030, folders["/var/lib/mlflow"]["uid"]}
    assert "metadata_guard_users" not in data["slurm_login"]["vars"]
    assert "state_volume_id" not in inventory(site)["slurm_controller"]["vars"], "no volume exists yet"
