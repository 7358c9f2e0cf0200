"""Slurm's files are unchanged, complete, and depend only on the environment."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from landbridge import hostlist
from landbridge.catalog.slurm.keys import slurm_keys
from landbridge.plan.slurm.files import slurm_files
from tests.unit.slurm_files import conf
from tests.unit.slurm_files.golden import CASES, GOLDEN, HERE, OLDEST, environment, folder

ROOT = Path(__file__).parents[3]
FILES = [(name, version, path.name) for name, version in CASES for path in sorted(folder(name, version).iterdir())]
#: Parameters of a node's line; slurm.conf(5), NODE CONFIGURATION.
NODE = {
    "NodeName",
    "NodeAddr",
    "Sockets",
    "CoresPerSocket",
    "ThreadsPerCore",
    "RealMemory",
    "CoreSpecCount",
    "MemSpecLimit",
}
NODE |= {"RestrictedCoresPerGPU", "Gres", "Feature", "Weight", "SuspendTime", "State"}


def golden_files(name: str, version: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder(name, version).iterdir())}


@pytest.mark.parametrize(("name", "version"), CASES)
def test_the_files_are_the_reviewed_ones(name: str, version: str) -> None:
    rendered = slurm_files(environment(name, version))
    assert rendered == golden_files(name, version), "python -m tests.unit.slurm_files.golden, and review the difference"


def test_every_golden_directory_is_compared() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}-{version}" for name, version in CASES}


@pytest.mark.parametrize(("name", "version", "file"), [case for case in FILES if not case[2].endswith(".lua")])
def test_an_independent_reader_understands_every_line(name: str, version: str, file: str) -> None:
    text = golden_files(name, version)[file]
    assert conf.read_and_write(file, text) == text


@pytest.mark.parametrize(("name", "version"), CASES)
def test_every_key_is_one_of_slurm_and_every_node_has_its_line_in_each_file(name: str, version: str) -> None:
    texts = golden_files(name, version)
    known = {key.casefold() for key in (*slurm_keys().slurm_conf, *slurm_keys().cgroup_conf)}
    assert {key.casefold() for file in ("slurm.conf", "cgroup.conf") for key in conf.settings(texts[file])} <= known
    nodes = conf.objects(texts["slurm.conf"], "NodeName")
    assert all(set(line) <= NODE for line in nodes.values())
    partitions = conf.objects(texts["slurm.conf"], "PartitionName")
    words = {key.casefold() for key in slurm_keys().partition}
    assert all(key.casefold() in words for line in partitions.values() for key in line)
    assert {host for line in partitions.values() for host in hostlist.expand(line["Nodes"])} == set(nodes)
    assert sum(line["Default"] == "YES" for line in partitions.values()) == 1
    # As many devices as the Gres of the node, each of them once.
    files: dict[str, list[str]] = {host: [] for host in nodes}
    for line in conf.read(texts["gres.conf"]):
        for host in hostlist.expand(line.fields["NodeName"]) if line.key == "NodeName" else ():
            devices = line.fields.get("File", "").rpartition("/")[2]
            files[host] += hostlist.expand(devices) if devices else [line.fields["MultipleFiles"]]
    for host, node in nodes.items():
        gres_count = sum(int(part.rpartition(":")[2]) for part in node.get("Gres", "gpu:0").split(","))
        assert len(files[host]) == len(set(files[host])) == gres_count


def test_older_releases_have_no_setting_that_they_do_not_know() -> None:
    new = {"RestrictedCoresPerGPU", "Topology=", "expedited", "requeue_on_resume_failure", "SuspendTime=600 State"}
    for name, version in CASES:
        if version == OLDEST:
            text = "".join(golden_files(name, version).values())
            assert [word for word in new if word in text] == []
    assert "TopologyPlugin=topology/block" in golden_files("domains", "24.11")["slurm.conf"]
    # Only one topology is possible: it must contain the nodes without a domain too.
    assert "TopologyPlugin=topology/tree" in golden_files("mixed", "24.11")["slurm.conf"]


def test_deepops_935_partitions_are_data() -> None:
    partitions = conf.objects(golden_files("metal", "26.05")["slurm.conf"], "PartitionName")
    assert list(partitions) == ["gpu", "onprem", "debug"]
    assert partitions["debug"] == {
        "PartitionName": "debug", "Nodes": "smc[01-02],v01", "Default": "YES", "MaxTime": "30:00", "DefaultTime": "30:00",
        "DefCpuPerGPU": "4", "DefMemPerGPU": "7782", "OverSubscribe": "NO", "AllowAccounts": "root,vision,clinic",
        "State": "UP", "PriorityTier": "5",
    }  # fmt: skip
    assert (partitions["onprem"]["MaxTime"], partitions["gpu"]["Default"]) == ("2-00:00:00", "NO")


def test_jobs_of_rack_scale_nodes_stay_in_their_nvlink_domains() -> None:
    alone, mixed = golden_files("domains", "26.05"), golden_files("mixed", "26.05")
    assert "      - block: r1\n        nodes: gb[01-18]\n      - block: r2\n" in alone["topology.yaml"]
    partitions = conf.objects(alone["slurm.conf"], "PartitionName")
    assert {queue.get("Topology") for queue in partitions.values()} == {"nvlink"}
    partitions = conf.objects(mixed["slurm.conf"], "PartitionName")
    assert {name for name, queue in partitions.items() if queue.get("Topology") == "nvlink"} == {"rack"}


def test_deepops_1295_deepops_1214_no_setting_needs_nvidias_library() -> None:
    for name, version in CASES:
        gres = golden_files(name, version)["gres.conf"]
        assert "AutoDetect=off\n" in gres and gres.count("AutoDetect") == 1


SHOW = """
import json, sys
from tests.unit.slurm_files.golden import environment
from landbridge.plan.ansible.inventory import inventory
print(json.dumps(inventory(environment(*sys.argv[1:]))["slurm_controller"]["vars"]["slurm_controller_files"], sort_keys=True))
"""


def test_deepops_307_deepops_1178_deepops_1027_slurms_files_need_no_facts_of_hosts(tmp_path: Path) -> None:
    """Render the same bytes for every user, directory and hash seed, without network."""
    other = {
        "PATH": os.environ["PATH"],
        "PYTHONHASHSEED": "7",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
        "HOME": str(tmp_path),
    }
    command = [sys.executable, "-c", SHOW, "mixed", "26.05"]
    if os.geteuid() == 0:
        command = ["unshare", "--net", *command]
    done = subprocess.run(command, cwd=ROOT, env=other, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == golden_files("mixed", "26.05")


def test_deepops_307_rendered_files_contain_no_facts_of_other_hosts() -> None:
    for role in ("slurm_common", "slurm_controller", "slurm_node", "slurm_login"):
        for path in (ROOT / "ansible/roles" / role / "templates").iterdir():
            assert re.findall(r"hostvars|groups|play_hosts|ansible_local|ansible_facts", path.read_text()) == [], path


def test_every_environment_has_golden_files() -> None:
    assert {path.stem for path in (HERE / "environments").iterdir()} == {name for name, _ in CASES}
