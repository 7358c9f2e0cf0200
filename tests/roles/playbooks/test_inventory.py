"""The inventory as Ansible sees it, through the plugin."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
SANDBOX = ROOT / "stacks/Pulumi.sandbox.yaml"
OUTPUTS = {
    "cluster": "sandbox",
    "region": "us-east-1",
    "network": {"vpc_id": "vpc-1", "cidr": "10.60.0.0/16", "subnets": {}},
    "link": {
        "aws_asn": 64512,
        "customer_gateway_address": "198.51.100.10",
        "tunnels": [
            {
                "outside_address": f"198.51.100.{20 + number}",
                "inside_cidr": f"169.254.1{number}.0/30",
                "aws_inside_address": f"169.254.1{number}.1",
                "customer_inside_address": f"169.254.1{number}.2",
            }
            for number in (0, 1)
        ],
    },
    "data_hub": {"buckets": {"internal": {"name": "sandbox-internal", "key_arn": "arn:aws:kms:us-east-1:1:key/2"}}},
    "identity": {"node_instance_profile": "p", "node_role_arn": "n", "launch_role_arn": "l", "hub_role_arn": "h"},
    "secrets": {"slurm_key": "sandbox/slurm-key"},
    "pools": {},
}


def ansible_inventory(state: Path, *words: str, source: Path = SANDBOX) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("ansible-inventory")
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "ANSIBLE_NOCOLOR": "1"}
    environment |= {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_LOCAL_TEMP": str(state / "tmp")}
    return subprocess.run(
        [str(program), "-i", str(source), *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )


def host(state: Path, name: str) -> dict[str, Any]:
    completed = ansible_inventory(state, "--host", name)
    assert completed.returncode == 0, completed.stderr
    return dict(json.loads(completed.stdout))


def give_outputs(state: Path, outputs: Mapping[str, Any]) -> None:
    folder = state / "landbridge/sandbox"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "outputs.json").write_text(json.dumps(outputs))


def test_groups_contain_the_hosts_of_each_role(tmp_path: Path) -> None:
    completed = ansible_inventory(tmp_path, "--list")
    assert completed.returncode == 0, completed.stderr
    data = json.loads(completed.stdout)
    members = {group: content.get("hosts", []) for group, content in data.items() if group != "_meta"}
    assert members["slurm_controller"] == members["burst"] == ["ctl01"]
    assert members["slurm_node"] == ["dgx01", "dgx02"]
    assert sorted(members["nfs_client"]) == ["dgx01", "dgx02", "login01"]
    assert members["site_gateway"] == ["gw01"]
    assert len(members["onprem"]) == 8


def test_variables_from_stack_outputs_exist_only_with_outputs(tmp_path: Path) -> None:
    before = host(tmp_path, "gw01")
    assert "site_gateway_tunnels" not in before
    assert before["site_gateway_datapath"] == "userspace"
    give_outputs(tmp_path, OUTPUTS)
    tunnels = host(tmp_path, "gw01")["site_gateway_tunnels"]
    assert [tunnel["remote_address"] for tunnel in tunnels] == ["198.51.100.20", "198.51.100.21"]
    assert [tunnel["inside_local"] for tunnel in tunnels] == ["169.254.10.2", "169.254.11.2"]
    (server,) = host(tmp_path, "mlops01")["mlflow_servers"]
    assert server["artifacts_destination"].startswith("s3://sandbox-internal/")


def test_no_secret_is_in_the_inventory(tmp_path: Path) -> None:
    give_outputs(tmp_path, {**OUTPUTS, "link_pre_shared_keys": ["a-key-that-must-not-appear", "b"]})
    completed = ansible_inventory(tmp_path, "--list")
    assert completed.returncode == 0, completed.stderr
    assert "a-key-that-must-not-appear" not in completed.stdout
    assert not list((tmp_path / "landbridge/sandbox/secrets").iterdir()), "listing hosts generates nothing"


def test_slurm_files_do_not_depend_on_reachable_hosts(tmp_path: Path) -> None:
    files = host(tmp_path, "ctl01")["slurm_controller_files"]
    assert {"slurm.conf", "gres.conf", "cgroup.conf"} <= set(files)
    assert "NodeName=dgx[01-02]" in files["slurm.conf"]


def test_a_bad_file_is_refused_with_file_and_line(tmp_path: Path) -> None:
    bad = tmp_path / "Pulumi.bad.yaml"
    bad.write_text(SANDBOX.read_text().replace("max_nodes: 4", "max_nodes: -1"))
    completed = ansible_inventory(tmp_path, "--list", source=bad)
    assert completed.returncode != 0
    line = next(number for number, text in enumerate(bad.read_text().splitlines(), 1) if "max_nodes" in text)
    assert f"Pulumi.bad.yaml:{line}:" in completed.stderr


@pytest.mark.parametrize(
    "playbook", ["ansible/site.yml", "ansible/playbooks/add_node.yml", "ansible/playbooks/node_image.yml"]
)
def test_playbooks_parse_and_every_task_has_a_name(tmp_path: Path, playbook: str) -> None:
    program = Path(sys.executable).with_name("ansible-playbook")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
    completed = subprocess.run(
        [str(program), "-i", str(SANDBOX), playbook, "--syntax-check"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr


def test_two_sites_with_the_same_addresses_share_no_open_connection(tmp_path: Path) -> None:
    other = tmp_path / "Pulumi.other.yaml"
    other.write_text(SANDBOX.read_text())

    def connections(source: Path) -> str:
        completed = ansible_inventory(tmp_path, "--host", "ctl01", source=source)
        assert completed.returncode == 0, completed.stderr
        variables = json.loads(completed.stdout)
        assert variables["ansible_host"] == "10.20.0.11"
        return str(variables["ansible_control_path_dir"])

    assert connections(SANDBOX) == connections(SANDBOX) != connections(other)


def test_a_site_extends_the_inventory_by_a_file_of_its_own(tmp_path: Path) -> None:
    environment, extension = tmp_path / "Pulumi.sandbox.yaml", tmp_path / "sandbox.landbridge.yml"
    environment.write_text(SANDBOX.read_text())
    extension.write_text(
        """\
plugin: landbridge
groups:
  monitored: "'slurm_node' in group_names and ansible_port == 22"
compose:
  exporter_port: ansible_port + 9000
keyed_groups:
  - {key: slurm_common_auth, prefix: auth}
"""
    )

    def hosts(source: Path) -> dict[str, Any]:
        completed = ansible_inventory(tmp_path, "--list", source=source)
        assert completed.returncode == 0, completed.stderr
        return dict(json.loads(completed.stdout))

    data = hosts(environment)
    assert data["monitored"]["hosts"] == data["slurm_node"]["hosts"] == ["dgx01", "dgx02"]
    assert len(data["auth_munge"]["hosts"]) == 8
    assert data["_meta"]["hostvars"]["gw01"]["exporter_port"] == 9022
    assert hosts(extension) == data
    extension.write_text("plugin: landbridge\nstrict: true\ngroups: {monitored: no_such_variable}\n")
    completed = ansible_inventory(tmp_path, "--list", source=environment)
    assert completed.returncode != 0 and "no_such_variable" in completed.stderr
