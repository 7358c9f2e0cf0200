"""An environment without a site of its own: who serves what, at which address, and how a person reaches it."""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.environment import Environment
from landbridge.environment.base import Site
from landbridge.findings import DataPath, FindingsError
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.images import image_sources, services_image
from landbridge.plan.aws.pool import pool_security_group_rules
from landbridge.plan.network.addresses import ip_budget
from landbridge.plan.network.hosts import hosts, service_hosts
from landbridge.plan.network.subnets import subnets
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.ssh_access import proxy_command
from landbridge.plan.slurm.files import slurm_files
from landbridge.realise.configure import configure
from tests.unit.core.samples import ROOT, environment, shipped
from tests.unit.plan.ansible.test_inventory import OUTPUTS
from tests.unit.rules.aws.rows_cloud_services import CLOUD, with_services

BUILT = StackOutputs.model_validate(
    {
        **OUTPUTS.model_dump(exclude={"link"}),
        "services": {
            "hosts": {
                "ctl01": {"instance_id": "i-0c", "address": "10.60.128.16"},
                "login01": {"instance_id": "i-01", "address": "10.60.128.17"},
            },
            "database": {"address": "db.example", "port": 3306, "user": "admin", "secret_arn": "arn:aws:x"},
            "security_group_id": "sg-1",
            "state_volume_id": "vol-1",
        },
        "file_systems": {
            "home": {
                "kind": "efs",
                "id": "fs-1",
                "dns_name": "fs-1.efs.us-east-1.amazonaws.com",
                "source": "fs-1.efs.us-east-1.amazonaws.com:/",
                "type": "nfs4",
                "options": "nfsvers=4.1,hard",
                "mount": "/home",
                "zones": ["use1-az4"],
                "security_group_id": "sg-2",
            }
        },
    }
)


def cloud(changes: dict[DataPath, Any] | None = None) -> Environment:
    return environment({**CLOUD, **(changes or {})})


def settings(found: Environment) -> dict[str, str]:
    lines = slurm_files(found)["slurm.conf"].splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith(("Node", "Partition")))


@pytest.mark.parametrize(
    ("host", "groups"),
    [
        ("ctl01", {"services", "slurm_controller", "slurm_database", "mlflow", "burst"}),
        ("login01", {"services", "slurm_login", "nfs_client"}),
    ],
)
def test_groups(host: str, groups: set[str]) -> None:
    assert {one.name: set(one.groups) for one in hosts(cloud())}[host] == groups


def test_without_login_hosts_people_log_in_at_the_controller() -> None:
    (only,) = hosts(environment(with_services(login={"count": 0})))
    assert {"slurm_login", "nfs_client", "slurm_controller"} <= set(only.groups)


def test_slurm_conf_names_the_controller_with_its_planned_address() -> None:
    found = settings(cloud())
    assert found["SlurmctldHost"] == "ctl01(10.60.128.16)"
    assert found["AccountingStorageHost"] == "ctl01"
    assert "SuspendExcNodes" not in found
    assert "PartitionName=onprem" not in slurm_files(cloud())["slurm.conf"]


def test_addresses_are_a_reserved_part_of_the_zones_subnet() -> None:
    served = service_hosts(cloud())
    assert served.cidr == IPv4Network("10.60.128.16/28")
    assert dict(served.addresses) == {"ctl01": IPv4Address("10.60.128.16"), "login01": IPv4Address("10.60.128.17")}


@given(st.integers(0, 8), st.sampled_from(["10.60.0.0/16", "10.60.0.0/20", "10.60.0.0/24"]), st.integers(1, 6))
def test_a_host_keeps_its_address_whatever_comes_and_goes(logins: int, cidr: str, zone: int) -> None:
    changes: dict[DataPath, Any] = {("aws", "cidr"): cidr}
    one = environment({**with_services(login={"count": 8}), **changes})
    pool = {
        "name": "more",
        "instance": "g6e.xlarge",
        "max_nodes": 1,
        "capacity": [{"kind": "on_demand", "zones": [f"use1-az{zone}"]}],
    }
    other = environment({**with_services(login={"count": logins}), **changes, ("aws", "pools", 1): pool})
    before, after = service_hosts(one).addresses, service_hosts(other).addresses
    assert all(before[name] == address for name, address in after.items())
    private = next(own.cidr for own in subnets(other) if own.tier == "private" and own.zone == "use1-az4")
    # AWS keeps the first four addresses of a subnet and the last one.
    assert all(3 < int(address) - int(private[0]) < private.num_addresses - 1 for address in after.values())
    assert len(set(after.values())) == len(after) == 1 + logins


def test_a_second_zone_has_a_subnet_for_the_database_and_another_pool_does_not_move_it() -> None:
    assert {own.zone for own in subnets(cloud()) if own.tier == "private"} == {"use1-az4", "use1-az5"}
    named = environment(with_services(standby_zone="use1-az2"))
    assert {own.zone for own in subnets(named) if own.tier == "private"} == {"use1-az2", "use1-az4"}


def test_what_is_reserved_is_counted_as_taken() -> None:
    found = {own.zone: (own.services, own.link) for own in ip_budget(cloud()) if own.tier == "private"}
    assert found == {"use1-az4": (17, 0), "use1-az5": (1, 0)}


def test_nodes_let_in_the_services_alone() -> None:
    peers = {(rule.peer, rule.ports) for rule in pool_security_group_rules(cloud()) if rule.direction == "in"}
    assert {peer for peer, _ in peers} == {"self", "10.60.128.16/28", "10.60.0.0/16"}
    # slurmd passes messages on to nodes of other pools.
    assert [ports for peer, ports in peers if peer == "10.60.0.0/16"] == [(6818, 6818)]


def test_ssh_goes_through_sessions_by_the_instances_id() -> None:
    command = proxy_command(cloud())
    assert command is not None and "--region us-east-1 --target %h --document-name AWS-StartSSHSession" in command
    hostvars = inventory(cloud(), BUILT)["_meta"]["hostvars"]
    assert {name: one["ansible_host"] for name, one in hostvars.items()} == {"ctl01": "i-0c", "login01": "i-01"}


def test_a_command_of_ones_own_reaches_addresses() -> None:
    own = environment(with_services(access={"proxy_command": "ssh -W %h:%p bastion"}))
    assert proxy_command(own) == "ssh -W %h:%p bastion"
    assert inventory(own, BUILT)["_meta"]["hostvars"]["ctl01"]["ansible_host"] == "10.60.128.16"


def test_what_aws_has_built_is_in_the_inventory_once_it_is_there() -> None:
    before, after = inventory(cloud()), inventory(cloud(), BUILT)
    assert before["nfs_client"]["vars"] == {} and before["all"]["vars"]["nfs_client_mounts"] == []
    (mount,) = after["all"]["vars"]["landbridge_cloud_mounts"]
    assert (mount["server"], mount["export"], mount["mount"]) == ("fs-1.efs.us-east-1.amazonaws.com", "/", "/home")
    assert after["nfs_client"]["vars"]["nfs_client_homes"][0] == {"path": "/home/alice", "owner": 20001}
    assert "slurm_database_server" not in before["slurm_database"]["vars"]
    assert after["slurm_database"]["vars"]["slurm_database_server"] == "db.example"


def test_every_other_host_knows_the_services_by_name() -> None:
    known = {host["name"]: host for host in inventory(cloud())["all"]["vars"]["base_hosts"]}
    assert known["ctl01"] == {"name": "ctl01", "address": "10.60.128.16", "aliases": ["ctl01.cluster.internal"]}


@pytest.mark.parametrize(("name", "site"), [("startup", "aws"), ("hybrid", "onprem"), ("sandbox", "onprem")])
def test_one_place_answers_for_both_shapes(name: str, site: Site) -> None:
    found = service_hosts(shipped(name))
    assert found.site == site
    assert {*found.controllers, found.database, *found.logins, found.mlops} <= set(found.addresses)


def test_hosts_that_are_not_built_are_not_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(FindingsError, match="landbridge up -s test"):
        configure(cloud(), ROOT / "stacks" / "Pulumi.startup.yaml", print)


def test_hosts_boot_debian_as_the_lock_has_it() -> None:
    chosen = services_image(cloud(), {"debian-13-x86_64": "ami-0a"})
    assert chosen is not None and (chosen.ami, chosen.reference) == ("ami-0a", "ami-0a")
    arm = environment(with_services(controller={"instance": "m7g.large"}, login={"instance": "m7g.large"}))
    unlocked = services_image(arm)
    assert unlocked is not None and unlocked.reference == "resolve:ssm:/aws/service/debian/release/13/latest/arm64"
    assert image_sources(arm)["debian-13-arm64"] == "/aws/service/debian/release/13/latest/arm64"
    assert services_image(environment({})) is None and image_sources(environment({})) == {}
