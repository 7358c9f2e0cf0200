"""An environment without an on-prem site: service hosts in AWS, their addresses, and access to them."""

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
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.hosts import service_hosts
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


def settings(site: Environment) -> dict[str, str]:
    lines = slurm_files(site)["slurm.conf"].splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith(("Node", "Partition")))


@pytest.mark.parametrize(
    ("host", "groups"),
    [
        ("ctl01", {"services", "slurm_controller", "slurm_database", "mlflow", "burst"}),
        ("login01", {"services", "slurm_login", "nfs_client"}),
    ],
)
def test_service_hosts_in_aws_have_their_groups(host: str, groups: set[str]) -> None:
    assert {planned.name: set(planned.groups) for planned in hosts(cloud())}[host] == groups


def test_the_controller_is_the_login_host_if_there_is_no_other() -> None:
    (only,) = hosts(environment(with_services(login={"count": 0})))
    assert {"slurm_login", "nfs_client", "slurm_controller"} <= set(only.groups)


def test_slurm_conf_has_the_controller_with_its_planned_address() -> None:
    conf = settings(cloud())
    assert conf["SlurmctldHost"] == "ctl01(10.60.128.16)"
    assert conf["AccountingStorageHost"] == "ctl01"
    assert "SuspendExcNodes" not in conf
    assert "PartitionName=onprem" not in slurm_files(cloud())["slurm.conf"]


def test_addresses_of_service_hosts_are_in_a_reserved_range_of_the_subnet() -> None:
    served = service_hosts(cloud())
    assert served.cidr == IPv4Network("10.60.128.16/28")
    assert dict(served.addresses) == {"ctl01": IPv4Address("10.60.128.16"), "login01": IPv4Address("10.60.128.17")}


@given(st.integers(0, 8), st.sampled_from(["10.60.0.0/16", "10.60.0.0/20", "10.60.0.0/24"]), st.integers(1, 6))
def test_a_host_keeps_its_address_with_other_hosts_pools_and_zones(logins: int, cidr: str, zone: int) -> None:
    changes: dict[DataPath, Any] = {("aws", "cidr"): cidr}
    base = environment({**with_services(login={"count": 8}), **changes})
    pool = {
        "name": "more",
        "instance": "g6e.xlarge",
        "max_nodes": 1,
        "capacity": [{"kind": "on_demand", "zones": [f"use1-az{zone}"]}],
    }
    changed = environment({**with_services(login={"count": logins}), **changes, ("aws", "pools", 1): pool})
    before, after = service_hosts(base).addresses, service_hosts(changed).addresses
    assert all(before[name] == address for name, address in after.items())
    private = next(subnet.cidr for subnet in subnets(changed) if subnet.tier == "private" and subnet.zone == "use1-az4")
    # AWS reserves the first four addresses of a subnet and the last one.
    assert all(3 < int(address) - int(private[0]) < private.num_addresses - 1 for address in after.values())
    assert len(set(after.values())) == len(after) == 1 + logins


def test_a_second_zone_has_a_subnet_for_the_database_and_another_pool_does_not_move_it() -> None:
    assert {subnet.zone for subnet in subnets(cloud()) if subnet.tier == "private"} == {"use1-az4", "use1-az5"}
    named = environment(with_services(standby_zone="use1-az2"))
    assert {subnet.zone for subnet in subnets(named) if subnet.tier == "private"} == {"use1-az2", "use1-az4"}


def test_the_address_budget_counts_reserved_addresses() -> None:
    reserved = {entry.zone: (entry.services, entry.link) for entry in ip_budget(cloud()) if entry.tier == "private"}
    assert reserved == {"use1-az4": (17, 0), "use1-az5": (1, 0)}


def test_nodes_permit_ingress_from_the_services_only() -> None:
    peers = {(rule.peer, rule.ports) for rule in pool_security_group_rules(cloud()) if rule.direction == "in"}
    assert {peer for peer, _ in peers} == {"self", "10.60.128.16/28", "10.60.0.0/16"}
    # slurmd forwards messages to nodes of other pools.
    assert [ports for peer, ports in peers if peer == "10.60.0.0/16"] == [(6818, 6818)]


def test_ssh_uses_session_manager_with_the_instance_id() -> None:
    command = proxy_command(cloud())
    assert command is not None and "--region us-east-1 --target %h --document-name AWS-StartSSHSession" in command
    hostvars = inventory(cloud(), BUILT)["_meta"]["hostvars"]
    assert {name: values["ansible_host"] for name, values in hostvars.items()} == {"ctl01": "i-0c", "login01": "i-01"}


def test_a_custom_proxy_command_uses_addresses() -> None:
    site = environment(with_services(access={"proxy_command": "ssh -W %h:%p bastion"}))
    assert proxy_command(site) == "ssh -W %h:%p bastion"
    assert inventory(site, BUILT)["_meta"]["hostvars"]["ctl01"]["ansible_host"] == "10.60.128.16"


def test_the_inventory_has_file_systems_and_database_once_they_are_created() -> None:
    before, after = inventory(cloud()), inventory(cloud(), BUILT)
    assert before["nfs_client"]["vars"] == {} and before["all"]["vars"]["nfs_client_mounts"] == []
    (mount,) = after["all"]["vars"]["landbridge_cloud_mounts"]
    assert (mount["server"], mount["export"], mount["mount"]) == ("fs-1.efs.us-east-1.amazonaws.com", "/", "/home")
    # One host creates the homes: root of the others is squashed on FSx for OpenZFS.
    creator = after["_meta"]["hostvars"]["login01"]
    assert creator["nfs_client_homes"][0] == {"path": "/home/alice", "owner": 20001}
    assert creator["mlflow_clients_home_root"] == "/home"
    assert [name for name, hostvars in after["_meta"]["hostvars"].items() if "nfs_client_homes" in hostvars] == [
        "login01"
    ]
    assert "slurm_database_server" not in before["slurm_database"]["vars"]
    assert after["slurm_database"]["vars"]["slurm_database_server"] == "db.example"


def test_every_host_resolves_the_service_hosts_by_name() -> None:
    known = {host["name"]: host for host in inventory(cloud())["all"]["vars"]["base_hosts"]}
    assert known["ctl01"] == {"name": "ctl01", "address": "10.60.128.16", "aliases": ["ctl01.cluster.internal"]}


@pytest.mark.parametrize(("name", "site"), [("startup", "aws"), ("hybrid", "onprem"), ("sandbox", "onprem")])
def test_service_hosts_are_planned_on_prem_and_in_aws(name: str, site: Site) -> None:
    planned = service_hosts(shipped(name))
    assert planned.site == site
    assert {*planned.controllers, planned.database, *planned.logins, planned.mlops} <= set(planned.addresses)


def test_hosts_that_do_not_exist_are_not_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(FindingsError, match="landbridge up -s test"):
        configure(cloud(), ROOT / "stacks" / "Pulumi.startup.yaml", print)


def test_hosts_are_not_configured_without_the_private_key_of_the_file(tmp_path: Path) -> None:
    key = tmp_path / "id_ed25519"
    site, path = environment({("onprem", "access", "private_key"): str(key)}), tmp_path / "Pulumi.test.yaml"
    with pytest.raises(FindingsError, match=f"no private key {key}") as refused:
        configure(site, path, print)
    (finding,) = refused.value.findings
    assert (finding.rule, finding.path) == ("no-private-key", ("onprem", "access", "private_key"))
    key.write_text("")
    with pytest.raises(FindingsError, match=r"no ansible/other\.yml above"):
        configure(site, path, print, playbook=Path("ansible/other.yml"))


def test_service_hosts_boot_the_debian_image_of_the_image_lock() -> None:
    chosen = services_image(cloud(), {"debian-13-x86_64": "ami-0a"})
    assert chosen is not None and (chosen.ami, chosen.reference) == ("ami-0a", "ami-0a")
    arm = environment(with_services(controller={"instance": "m7g.large"}, login={"instance": "m7g.large"}))
    unlocked = services_image(arm)
    assert unlocked is not None and unlocked.reference == "resolve:ssm:/aws/service/debian/release/13/latest/arm64"
    assert image_sources(arm)["debian-13-arm64"] == "/aws/service/debian/release/13/latest/arm64"
    assert services_image(environment({})) is None and image_sources(environment({})) == {}
