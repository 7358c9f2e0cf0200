"""Hosts, groups and variables for Ansible."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.host_role import groups, hosts
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.slurm.nodes import cloud_nodes
from tests.unit.core.samples import REMOVED, ROOT, environment, loaded, shipped

ROLES = ROOT / "ansible" / "roles"
OUTPUTS = StackOutputs.model_validate(
    {
        "cluster": "test",
        "region": "us-east-1",
        "network": {"vpc_id": "vpc-1", "cidr": "10.60.0.0/16", "subnets": {}},
        "link": {
            "aws_asn": 64512,
            "customer_gateway_address": "3.3.3.3",
            "tunnels": [
                {
                    "outside_address": f"198.51.100.2{number}",
                    "inside_cidr": f"169.254.1{number}.0/30",
                    "aws_inside_address": f"169.254.1{number}.1",
                    "customer_inside_address": f"169.254.1{number}.2",
                }
                for number in range(2)
            ],
        },
        "data_hub": {"buckets": {"internal": {"name": "test-internal-1", "key_arn": "arn:aws:kms:us-east-1:1:key/1"}}},
        "identity": {
            "node_instance_profile": "p",
            "node_role_arn": "a",
            "launch_role_arn": "b",
            "hub_role_arn": "c",
        },
        "secrets": {"slurm_key": "test/slurm-key"},
        "pools": {},
    }
)


def members(group: str, changes: dict[DataPath, Any] | None = None) -> list[str]:
    names: list[str] = inventory(environment(changes))[group]["hosts"]
    return names


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("slurm_controller", ["ctl01"]),
        ("slurm_database", ["db01"]),
        ("slurm_login", ["login01"]),
        ("slurm_node", ["dgx01", "dgx02"]),
        ("nfs_server", ["nfs01"]),
        ("nfs_client", ["login01", "dgx01", "dgx02"]),
        ("site_gateway", ["gw01"]),
        ("mlflow", ["mlops01"]),
        ("burst", ["ctl01"]),
    ],
)
def test_on_prem_hosts_have_their_groups(group: str, expected: list[str]) -> None:
    assert members(group) == expected


def test_every_group_exists_even_if_it_is_empty() -> None:
    data = inventory(environment({("aws", "pools"): []}))
    assert {"onprem", *groups()} <= set(data)
    assert data["burst"]["hosts"] == []
    external = {"kind": "external_nfs", "host": "filer", "export": "/home"}
    assert members("nfs_server", {("storage", "home"): external}) == []


def test_one_host_may_have_every_service() -> None:
    services = {
        "controller": ["all1"], "database": "all1", "login": ["all1"], "storage": "all1", "gateway": "all1", "mlops": "all1", "monitoring": "all1", "logs": "all1",
    }  # fmt: skip
    changes: dict[DataPath, Any] = {("onprem", "services"): services, ("onprem", "addresses"): {"all1": "10.20.0.1"}}
    first = hosts(environment(changes))[0]
    assert first.name == "all1"
    assert {"onprem", *groups()} - set(first.groups) == {
        "slurm_node",
        "lustre_client",
        "site_dns",
        "slurm_rest",
        "object_store",
        "model_server",
        "model_gateway",
        "pipelines",
    }


@pytest.mark.parametrize(
    ("export", "mounts"),
    [("/export/home", [{"export": "/export/home", "mount": "/home"}]), ("/home", [])],
)
def test_the_storage_host_as_login_host_mounts_home_directories_too(export: str, mounts: list[dict[str, str]]) -> None:
    changes: dict[DataPath, Any] = {
        ("onprem", "services", "login"): ["nfs01"],
        ("storage", "home"): {"kind": "nfs", "export": export},
    }
    data = inventory(environment(changes))
    assert "nfs01" in data["nfs_client"]["hosts"]
    assert data["_meta"]["hostvars"]["nfs01"]["nfs_client_mounts"] == mounts
    assert "nfs_client_mounts" not in data["_meta"]["hostvars"]["dgx01"]


def test_a_node_may_be_a_service_host() -> None:
    changes: dict[DataPath, Any] = {
        ("onprem", "services"): {"gateway": "dgx01"},
        ("onprem", "addresses", "gw01"): REMOVED,
    }
    by_name = {host.name: host for host in hosts(environment(changes))}
    assert by_name["dgx01"].address == "10.20.1.11"
    assert {"site_gateway", "slurm_node"} <= set(by_name["dgx01"].groups)


def test_a_host_without_an_address_is_refused() -> None:
    broken = loaded({("onprem", "addresses", "gw01"): REMOVED}).environment
    assert broken is not None
    with pytest.raises(ValueError, match="gw01 has no address"):
        hosts(broken)


def test_stack_outputs_add_values_that_only_aws_knows() -> None:
    without, with_outputs = inventory(environment()), inventory(environment(), OUTPUTS)
    assert "site_gateway_tunnels" not in without["site_gateway"]["vars"]
    tunnels = with_outputs["site_gateway"]["vars"]["site_gateway_tunnels"]
    assert tunnels[1] == {
        "name": "aws2",
        "remote_address": "198.51.100.21",
        "inside_local": "169.254.11.2",
        "inside_remote": "169.254.11.1",
        "inside_prefix": 30,
        "remote_asn": 64512,
    }
    assert "mlflow_servers" not in without["mlflow"]["vars"], "the bucket of the first server is unknown"
    (server,) = with_outputs["mlflow"]["vars"]["mlflow_servers"]
    assert server["artifacts_destination"] == "s3://test-internal-1/mlflow"
    assert with_outputs["burst"]["vars"]["burst_config"]["cluster"] == "test"


@pytest.mark.parametrize("name", ["sandbox", "example"])
def test_the_inventory_is_json_without_secrets(name: str) -> None:
    text = json.dumps(inventory(shipped(name), OUTPUTS))
    assert "password" not in text
    assert "pre_shared" not in text


@pytest.mark.parametrize("specs", sorted(ROLES.glob("*/meta/argument_specs.yml")), ids=lambda path: path.parts[-3])
def test_every_variable_of_a_role_is_in_its_argument_specs(specs: Path) -> None:
    role = specs.parts[-3]
    others = [path.parts[-3] for path in ROLES.glob(f"{role}_*/meta/argument_specs.yml")]
    listed = yaml_text.load(specs.read_text())["argument_specs"]
    options = {option for entry in listed.values() for option in entry.get("options", {})}
    data = inventory(shipped("sandbox"), OUTPUTS)
    assigned = {name for group in data.values() for name in group.get("vars", {})}
    assigned |= {name for variables in data["_meta"]["hostvars"].values() for name in variables}
    role_variables = {
        name for name in assigned if name.startswith(f"{role}_") and not any(name.startswith(f"{o}_") for o in others)
    }
    assert role_variables <= options


def test_controllers_list_the_cloud_nodes_as_hosts_without_an_address() -> None:
    site = environment()
    data = inventory(site)
    absent = data["slurm_controller"]["vars"]["base_hosts_absent"]
    assert absent == [name for group in cloud_nodes(site) for name in group.names] != []
    # On other hosts the DNS of the site resolves running nodes.
    assert "base_hosts_absent" not in data["all"]["vars"]


@pytest.mark.parametrize(
    ("auth", "database", "sackd"), [("slurm", "db01", True), ("slurm", "ctl01", False), ("munge", "db01", False)]
)
def test_a_controller_has_sackd_unless_munge_or_slurmdbd_authenticates(auth: str, database: str, sackd: bool) -> None:
    changes: dict[DataPath, Any] = {
        ("scheduler", "auth"): auth,
        ("onprem", "services", "database"): database,
        ("onprem", "services", "login"): ["ctl01"],
    }
    data = inventory(environment(changes))
    controller_variables = data["_meta"]["hostvars"]["ctl01"]
    assert data["slurm_controller"]["vars"]["slurm_controller_sackd"] is sackd
    assert (controller_variables["slurm_login_daemon"], controller_variables["slurm_login_keeps_sackd"]) == (
        False,
        sackd,
    )
