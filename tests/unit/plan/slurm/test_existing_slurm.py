"""Plan of a site whose Slurm runs already: files beside its slurm.conf, and hosts that are not configured."""

from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.network.host_role import groups
from landbridge.plan.network.node_networks import node_ranges
from landbridge.plan.network.service_flows import service_flows
from landbridge.plan.slurm.controller_pair import state_folder
from landbridge.plan.slurm.existing import SETTINGS, existing_files, existing_settings
from landbridge.plan.slurm_ports import slurm_ports
from tests.unit.core.samples import ADDRESSES, GOOD, ROOT, environment

SLURM: DataPath = ("onprem", "existing_slurm")


def site(existing: dict[str, Any] | None = None, **changes: Any) -> Environment:
    """Return the valid environment whose Slurm runs already; `changes` are of top-level keys."""
    onprem = {key: value for key, value in GOOD["onprem"].items() if key != "nodes"}
    addresses = {**onprem["addresses"], "cn01": "10.20.1.11"}
    onprem |= {"existing_slurm": {"cluster": "old", "uid": 202, **(existing or {})}, "addresses": addresses}
    return environment({("onprem",): onprem, **{(key,): value for key, value in changes.items()}})


def test_only_the_gateway_and_the_burst_controller_are_configured() -> None:
    data = inventory(site())
    assert data["onprem"]["hosts"] == ["ctl01", "gw01"]
    members = {group: data[group]["hosts"] for group in groups() if data[group]["hosts"]}
    assert members == {"burst": ["ctl01"], "site_gateway": ["gw01"]}


def test_a_controller_of_others_keeps_its_system_and_account() -> None:
    hosts = inventory(site())["_meta"]["hostvars"]
    unchanged = {"landbridge_base": False, "landbridge_tuning": False, "landbridge_hardening": False}
    assert hosts["ctl01"].items() >= {**unchanged, "burst_account": False, "burst_uid": 202}.items()
    assert not set(unchanged) & set(hosts["gw01"])


def test_the_plays_for_all_hosts_respect_it() -> None:
    """Every role of a play for all hosts depends on a group, or on a variable that is false for such a host."""
    guards = {
        "landbridge_base",
        "landbridge_tuning",
        "landbridge_hardening",
        "landbridge_monitoring",
        "landbridge_log_shipper",
        "host_access_words",
        "group_names",
        "roles_anywhere_files",
    }
    parts = (ROOT / "ansible/playbooks/parts").glob("*.yml")
    plays = [play for part in parts for play in yaml_text.load(part.read_text())]
    tasks = [task for play in plays if play.get("hosts") == "all" for task in play["tasks"]]
    assert len(tasks) > 15
    # The record has Landbridge's own names only, and no users of such a host.
    records = ("record.yml", "removals.yml")
    for task in tasks:
        is_of_record = task.get("ansible.builtin.include_role", {}).get("tasks_from") in records
        assert is_of_record or any(guard in str(task.get("when", "")) for guard in guards), task


def test_nodes_in_aws_have_the_account_folders_and_names_of_the_site() -> None:
    common = inventory(site({"node_folders": ["/var/spool/slurm"]}))["all"]["vars"]
    assert (common["slurm_common_uid"], common["slurm_common_folders"]) == (202, ["/var/spool/slurm"])
    assert {host["name"] for host in common["base_hosts"]} == {*ADDRESSES, "cn01"}
    of_landbridge = ("landbridge_monitoring", "landbridge_log_shipper", "host_access_words")
    assert not any(name in str(inventory(site({}))) for name in of_landbridge)
    assert "MLFLOW_TRACKING_URI" not in common["base_environment"] and "landbridge_site_tls" not in common
    assert "slurm_common_uid" not in inventory(environment())["all"]["vars"]


def test_a_setting_is_in_the_file_unless_the_site_sets_it() -> None:
    every = existing_settings(site())
    assert set(every) <= set(SETTINGS) and "SuspendTime" not in every and "ClusterName" not in every
    text = existing_files(site({"sets": ["grestypes", "SlurmctldParameters"]}))["landbridge.conf"]
    written = {line.partition("=")[0] for line in text.splitlines() if "=" in line}
    assert written - {"NodeName", "PartitionName"} == set(every) - {"GresTypes", "SlurmctldParameters"}


def test_the_file_has_the_pools_only_and_suspends_no_node_of_the_site() -> None:
    lines = existing_files(site())["landbridge.conf"].splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("NodeName", "PartitionName"))] == [
        "NodeName=p5-[1-4]",
        "PartitionName=p5",
    ]
    partition = next(line for line in lines if line.startswith("PartitionName"))
    assert "SuspendTime=" in partition and "Default=NO" in partition and "AllowAccounts=root,vision" in partition
    assert "QOS=" not in partition
    assert existing_files(environment()) == {}


@pytest.mark.parametrize(
    ("topology", "names"),
    [("flat", set()), ("tree", {"landbridge-topology.conf"}), ("yaml", {"landbridge-topology.yaml"})],
)
def test_pools_are_in_the_topology_of_the_site(topology: str, names: set[str]) -> None:
    files = existing_files(site({"topology": topology}))
    assert set(files) == {"landbridge.conf", "landbridge-gres.conf", "landbridge-hosts", *names}
    assert ("Topology=landbridge" in files["landbridge.conf"]) == (topology == "yaml")
    assert all("aws-p5" in files[name] and "p5-[1-4]" in files[name] for name in names)


def test_the_site_gives_ports_state_and_networks() -> None:
    assert slurm_ports(site()) == ("6817", "6818", "1024-65535")
    assert slurm_ports(site({"srun_ports": "50000-51000"}))[2] == "50000-51000"
    assert state_folder(site({"state": "/srv/slurm"})) == "/srv/slurm"
    assert [str(network) for network in node_ranges(site())] == ["10.20.0.0/16"]
    assert not any(flow.group == "mlflow" for flow in service_flows(site()))


def test_only_controllers_get_roles_in_aws() -> None:
    assert identity_args(site()).hosts == dict.fromkeys(("launch", "terminate", "read"), ("ctl01",))


def test_controllers_can_resolve_the_names_of_nodes_that_do_not_exist() -> None:
    lines = existing_files(site())["landbridge-hosts"].splitlines()[1:]
    assert lines == [f"0.0.0.1 p5-{number}" for number in range(1, 5)]


def test_gpus_are_listed_for_their_nodes_only() -> None:
    lines = existing_files(site())["landbridge-gres.conf"].splitlines()[1:]
    assert lines and all(line.startswith("NodeName=p5-[1-4] AutoDetect=off Name=gpu ") for line in lines)


def test_show_prints_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from landbridge.cli.environment.show import show
    from tests.unit.core.samples import changed

    onprem = {key: value for key, value in GOOD["onprem"].items() if key != "nodes"}
    path = tmp_path / "Pulumi.test.yaml"
    home = {"kind": "external_nfs", "host": "filer.example.org", "export": "/home"}
    existing = {**onprem, "existing_slurm": {"cluster": "old"}}
    path.write_text(changed({("onprem",): existing, ("storage", "home"): home}))
    show(file=path, slurm=True)
    assert "==> landbridge.conf <==\n" in capsys.readouterr().out
    show(file=path)
    assert "Slurm cluster old, configured by others" in capsys.readouterr().out
