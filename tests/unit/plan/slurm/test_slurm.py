"""Slurm's configuration files: required content, overrides, and properties of any environment."""

import re
from typing import Any

import pytest

from landbridge import hostlist, yaml_text
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.slurm.files import slurm_files
from landbridge.plan.slurm.partitions import seconds
from tests.unit.core.samples import REMOVED, environment, shipped

CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


def conf(changes: dict[DataPath, Any] | None = None) -> dict[str, str]:
    return settings(slurm_files(environment(changes))["slurm.conf"])


def settings(text: str) -> dict[str, str]:
    """Return the settings of slurm.conf; node and partition lines by their name."""
    values = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            values[f"{key}={value.split()[0]}" if key in ("NodeName", "PartitionName") else key] = value
    return values


def fields(line: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in line.split()[1:])


def test_nodes_come_from_platform_and_instance_facts() -> None:
    values = conf()
    assert fields(values["NodeName=dgx[01-02]"]) == {
        "NodeAddr": "10.20.1.[11-12]",
        "Sockets": "2",
        "CoresPerSocket": "56",
        "ThreadsPerCore": "2",
        "RealMemory": "1992294",
        "CoreSpecCount": "2",
        "MemSpecLimit": "16384",
        "RestrictedCoresPerGPU": "13",
        "Gres": "gpu:h100:8",
        "Feature": "onprem,dgx-h100,h100",
        "Weight": "1",
        "State": "UNKNOWN",
    }
    cloud = fields(values["NodeName=p5-[1-4]"])
    assert (cloud["State"], cloud["Weight"], cloud["Gres"]) == ("CLOUD", "1000", "gpu:h100:8")
    assert "NodeAddr" not in cloud


def test_a_site_sets_the_cores_and_memory_reserved_for_the_system() -> None:
    hardware: DataPath = ("onprem", "nodes", 0, "hardware")
    none = {"reserved_cores": 0, "reserved_memory_mib": 0, "gpu_cores": 0}
    node = fields(conf({hardware: none})["NodeName=dgx[01-02]"])
    assert not {"CoreSpecCount", "MemSpecLimit", "RestrictedCoresPerGPU"} & set(node)
    values = conf({hardware: {"reserved_cores": 4, "reserved_memory_mib": 65536, "gpu_cores": 6}, ("aws", "pools"): []})
    node = fields(values["NodeName=dgx[01-02]"])
    assert (node["CoreSpecCount"], node["MemSpecLimit"], node["RestrictedCoresPerGPU"]) == ("4", "65536", "6")
    share = fields(values["PartitionName=onprem"])
    assert (share["DefCpuPerGPU"], share["DefMemPerGPU"]) == ("26", str((1992294 - 65536) // 8))
    # Never more than the node has: Slurm would drain it.
    most = fields(conf({(*hardware, "gpu_cores"): 100})["NodeName=dgx[01-02]"])
    assert most["RestrictedCoresPerGPU"] == "13"


def test_cores_are_reserved_for_gpus_only_if_their_sockets_are_known() -> None:
    for change in ({"platform": "hgx-h100"}, {"hardware": {"sockets": 1}}):
        changes: dict[DataPath, Any] = {("onprem", "nodes", 0, key): value for key, value in change.items()}
        files = slurm_files(environment(changes))
        assert "RestrictedCoresPerGPU" not in files["slurm.conf"] and "Cores=" not in files["gres.conf"]
    old = slurm_files(environment({("scheduler", "slurm"): {"version": "23.11", "packages_release": "noble"}}))
    assert "RestrictedCoresPerGPU" not in old["slurm.conf"] and "Cores=0-55" in old["gres.conf"]


def test_hardware_in_the_file_replaces_that_of_the_platform() -> None:
    hardware = {"cores_per_socket": 4, "sockets": 1, "threads_per_core": 1, "memory_mib": 10_000}
    node = fields(conf({("onprem", "nodes", 0, "hardware"): hardware})["NodeName=dgx[01-02]"])
    assert (node["Sockets"], node["CoresPerSocket"], node["ThreadsPerCore"], node["RealMemory"]) == (
        "1",
        "4",
        "1",
        "9500",
    )


def test_the_default_partition_has_nodes_of_both_sites() -> None:
    values = conf()
    main = fields(values["PartitionName=gpu"])
    assert (main["Nodes"], main["Default"]) == ("dgx[01-02],p5-[1-4]", "YES")
    assert fields(values["PartitionName=onprem"])["Nodes"] == "dgx[01-02]"
    assert fields(values["PartitionName=p5"])["Nodes"] == "p5-[1-4]"
    assert [key for key in values if key.startswith("Part")] == [f"PartitionName={n}" for n in ("gpu", "onprem", "p5")]


def test_the_default_cores_and_memory_per_gpu_fit_the_smallest_node() -> None:
    main = fields(conf()["PartitionName=gpu"])
    assert (main["DefCpuPerGPU"], main["DefMemPerGPU"]) == ("24", str((1992294 - 16384) // 8))


def test_partitions_permit_only_accounts_whose_data_may_be_there() -> None:
    values = conf({("scheduler", "accounts", "clinic"): {"data_class": "restricted"}})
    assert fields(values["PartitionName=gpu"])["AllowAccounts"] == "root,vision"
    assert fields(values["PartitionName=p5"])["AllowAccounts"] == "root,vision"
    assert fields(values["PartitionName=onprem"])["AllowAccounts"] == "root,vision,clinic"


def test_partitions_without_accounts_permit_every_account() -> None:
    values = conf({("scheduler", "accounts"): {}})
    assert "AllowAccounts" not in values["PartitionName=gpu"]
    assert "AccountingStorageEnforce" not in values


def test_a_site_adds_and_changes_partitions() -> None:
    partitions = {
        "debug": {"nodes": ["dgx02", "p5"], "max_time": "30:00", "default": True, "settings": {"PriorityTier": 5, "OverSubscribe": None}},
        "gpu": {"max_time": "1-0"},
    }  # fmt: skip
    values = conf({("scheduler", "partitions"): partitions})
    debug = fields(values["PartitionName=debug"])
    assert (debug["Nodes"], debug["Default"], debug["DefaultTime"], debug["PriorityTier"]) == (
        "dgx02,p5-[1-4]",
        "YES",
        "30:00",
        "5",
    )
    assert "OverSubscribe" not in debug
    assert (fields(values["PartitionName=gpu"])["Default"], fields(values["PartitionName=gpu"])["MaxTime"]) == (
        "NO",
        "1-0",
    )


def test_overrides_replace_delete_and_add_settings_in_any_case() -> None:
    values = conf({CONF: {"slurmdtimeout": 60, "PreemptType": None, "DebugFlags": "Power", "ReturnToService": 2}})
    assert values["SlurmdTimeout"] == "60"
    assert "PreemptType" not in values
    assert (values["DebugFlags"], values["ReturnToService"]) == ("Power", "2")
    cgroup = slurm_files(environment({("scheduler", "overrides", "cgroup_conf"): {"ConstrainCores": False}}))[
        "cgroup.conf"
    ]
    assert "ConstrainCores=no\n" in cgroup


def test_power_saving_excludes_on_prem_nodes() -> None:
    values = conf({("aws", "pools", 0, "suspend_after"): 77, ("aws", "pools", 0, "resume_timeout"): 333})
    assert values["SuspendExcNodes"] == "dgx[01-02]"
    assert values["SuspendExcStates"] == "DOWN,DRAIN,FAIL"
    # With a count in the value, Slurm divides it at every comma, also inside brackets.
    hosts = {("onprem", "nodes", 0, "hosts"): "dgx[01,03-04]"}
    words = conf({**hosts, ("aws", "pools", 0, "min_nodes"): 1})["SuspendExcNodes"].split(",")
    assert [word for word in words if ":" in word] == ["p5-[1-4]:1"]
    assert [host for word in words if ":" not in word for host in hostlist.expand(word)] == ["dgx01", "dgx03", "dgx04"]
    assert (values["SuspendTime"], values["ResumeTimeout"]) == ("77", "333")
    assert values["ResumeProgram"] == "/opt/landbridge/bin/landbridge-resume"
    assert values["PrologSlurmctld"] == "/opt/landbridge/bin/landbridge-prolog-wait"
    assert "power_save_interval=1" in values["SlurmctldParameters"]
    assert fields(values["NodeName=p5-[1-4]"])["SuspendTime"] == "77"


def test_without_pools_there_is_no_power_saving() -> None:
    values = conf({("aws", "pools"): []})
    assert not {"ResumeProgram", "SuspendTime", "PrologSlurmctld"} & set(values)
    assert values["SlurmctldParameters"].startswith("enable_configless")


def test_a_slurm_version_gets_only_settings_that_it_knows() -> None:
    files = slurm_files(environment({("scheduler", "slurm"): {"version": "24.11"}}))
    old = settings(files["slurm.conf"])
    assert old["TopologyPlugin"] == "topology/tree"
    assert "requeue_on_resume_failure" not in old["SchedulerParameters"]
    assert "enable_expedited_requeue" not in old["SlurmctldParameters"]
    assert "SuspendTime" not in fields(old["NodeName=p5-[1-4]"])
    assert "SwitchName=onprem-r1 Nodes=dgx[01-02]" in files["topology.conf"]
    assert "topology.yaml" not in files
    new = conf()
    assert "TopologyPlugin" not in new
    assert "requeue_on_resume_failure" in new["SchedulerParameters"]


@pytest.mark.parametrize("version", ["24.11", "26.05"])
def test_no_topology_switch_connects_the_sites(version: str) -> None:
    racks = [
        {"hosts": f"{rack}[1-2]", "platform": "dgx-h100", "address": f"10.20.{number}.1", "rack": rack}
        for number, rack in enumerate(("a", "b", "c"), start=1)
    ]
    changes: dict[DataPath, Any] = {("onprem", "nodes"): racks, ("scheduler", "slurm"): {"version": version}}
    files = slurm_files(environment(changes))
    if version == "26.05":
        switches = yaml_text.load(files["topology.yaml"])[0]["tree"]["switches"]
    else:
        lines = [line for line in files["topology.conf"].splitlines() if not line.startswith("#")]
        words = {"SwitchName": "switch", "Nodes": "nodes", "Switches": "children"}
        switches = [{words[k]: v for k, v in (part.split("=") for part in line.split())} for line in lines]
    roots = {switch["switch"] for switch in switches} - {
        child for switch in switches if "children" in switch for child in switch["children"].split(",")
    }
    assert roots == {"onprem", "aws-p5"}


def test_gres_conf_lists_every_device() -> None:
    lines = slurm_files(environment({("aws", "pools", 0, "instance"): "p5.4xlarge"}))["gres.conf"].splitlines()[1:]
    assert lines == [
        "AutoDetect=off",
        "NodeName=dgx[01-02] Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-55",
        "NodeName=dgx[01-02] Name=gpu Type=h100 File=/dev/nvidia[4-7] Cores=56-111",
        "NodeName=p5-[1-4] Name=gpu Type=h100 File=/dev/nvidia0",
    ]


def test_authentication_and_cgroup_versions() -> None:
    changes: dict[DataPath, Any] = {("scheduler", "auth"): "slurm", ("scheduler", "cgroup"): "v1"}
    files = slurm_files(environment(changes))
    assert settings(files["slurm.conf"])["AuthType"] == "auth/slurm"
    assert "CgroupPlugin=cgroup/v1" in files["cgroup.conf"]
    assert "ConstrainSwapSpace" not in files["cgroup.conf"]
    assert "ConstrainSwapSpace=yes" in slurm_files(environment())["cgroup.conf"]


@pytest.mark.parametrize("name", ["sandbox", "example"])
def test_shipped_environments_render_complete_files(name: str) -> None:
    chosen: Environment = shipped(name)
    files = slurm_files(chosen)
    assert set(files) == {"slurm.conf", "gres.conf", "cgroup.conf", "topology.yaml", "job_submit.lua"}
    for text in files.values():
        assert (
            text.startswith(("# Written by Landbridge", "-- Written by Landbridge"))
            and text.endswith("\n")
            and "None" not in text
        )
    rendered = settings(files["slurm.conf"])
    nodes = [host for key in rendered if key.startswith("NodeName=") for host in hostlist.expand(key.partition("=")[2])]
    assert len(nodes) == len(set(nodes))
    switched = yaml_text.load(files["topology.yaml"])[0]["tree"]["switches"]
    leaves = [host for switch in switched if "nodes" in switch for host in hostlist.expand(switch["nodes"])]
    assert sorted(leaves) == sorted(nodes)
    assert re.search(rf"^ClusterName={name}$", files["slurm.conf"], re.MULTILINE)


def test_an_environment_without_on_prem_nodes_has_no_lines_for_them() -> None:
    files = slurm_files(environment({("onprem", "nodes"): REMOVED}))
    assert "SuspendExcNodes" not in files["slurm.conf"]
    assert "PartitionName=onprem" not in files["slurm.conf"]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("90", 5400), ("30:00", 1800), ("4:00:00", 14400), ("1-0", 86400), ("1-2:30", 95400), ("7-00:00:00", 604800)],
)
def test_a_time_limit_is_converted_to_seconds(limit: str, expected: int) -> None:
    assert seconds(limit) == expected
    assert seconds("INFINITE") > 10**12
