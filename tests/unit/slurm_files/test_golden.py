"""Slurm's files are unchanged, complete, and made only from the environment."""

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


def kept(name: str, version: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder(name, version).iterdir())}


@pytest.mark.parametrize(("name", "version"), CASES)
def test_the_files_are_those_that_somebody_has_looked_at(name: str, version: str) -> None:
    found = slurm_files(environment(name, version))
    assert found == kept(name, version), "python -m tests.unit.slurm_files.golden, and review the difference"


def test_nothing_is_kept_that_nobody_compares() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}-{version}" for name, version in CASES}


@pytest.mark.parametrize(("name", "version", "file"), [case for case in FILES if not case[2].endswith(".lua")])
def test_what_another_reader_understands_is_the_whole_file(name: str, version: str, file: str) -> None:
    text = kept(name, version)[file]
    assert conf.again(file, text) == text


@pytest.mark.parametrize(("name", "version"), CASES)
def test_every_key_is_one_of_slurms_and_every_node_has_its_line_in_each_file(name: str, version: str) -> None:
    found = kept(name, version)
    known = {key.casefold() for key in (*slurm_keys().slurm_conf, *slurm_keys().cgroup_conf)}
    assert {key.casefold() for file in ("slurm.conf", "cgroup.conf") for key in conf.settings(found[file])} <= known
    nodes = conf.objects(found["slurm.conf"], "NodeName")
    assert all(set(line) <= NODE for line in nodes.values())
    queues = conf.objects(found["slurm.conf"], "PartitionName")
    words = {key.casefold() for key in slurm_keys().partition}
    assert all(key.casefold() in words for line in queues.values() for key in line)
    assert {host for line in queues.values() for host in hostlist.expand(line["Nodes"])} == set(nodes)
    assert sum(line["Default"] == "YES" for line in queues.values()) == 1
    # As many devices as the node says it has, each of them once.
    files: dict[str, list[str]] = {host: [] for host in nodes}
    for line in conf.read(found["gres.conf"]):
        for host in hostlist.expand(line.fields["NodeName"]) if line.key == "NodeName" else ():
            devices = line.fields.get("File", "").rpartition("/")[2]
            files[host] += hostlist.expand(devices) if devices else [line.fields["MultipleFiles"]]
    for host, node in nodes.items():
        wanted = sum(int(part.rpartition(":")[2]) for part in node.get("Gres", "gpu:0").split(","))
        assert len(files[host]) == len(set(files[host])) == wanted


def test_older_releases_are_told_nothing_that_they_do_not_know() -> None:
    new = {"RestrictedCoresPerGPU", "Topology=", "expedited", "requeue_on_resume_failure", "SuspendTime=600 State"}
    for name, version in CASES:
        if version == OLDEST:
            text = "".join(kept(name, version).values())
            assert [word for word in new if word in text] == []
    assert "TopologyPlugin=topology/block" in kept("domains", "24.11")["slurm.conf"]
    # One topology for all, where there can be only one: nodes that are in no domain have to be in it too.
    assert "TopologyPlugin=topology/tree" in kept("mixed", "24.11")["slurm.conf"]


def test_deepops_935_queues_are_data() -> None:
    queues = conf.objects(kept("metal", "26.05")["slurm.conf"], "PartitionName")
    assert list(queues) == ["gpu", "onprem", "debug"]
    assert queues["debug"] == {
        "PartitionName": "debug", "Nodes": "smc[01-02],v01", "Default": "YES", "MaxTime": "30:00", "DefaultTime": "30:00",
        "DefCpuPerGPU": "4", "DefMemPerGPU": "7782", "OverSubscribe": "NO", "AllowAccounts": "root,vision,clinic",
        "State": "UP", "PriorityTier": "5",
    }  # fmt: skip
    assert (queues["onprem"]["MaxTime"], queues["gpu"]["Default"]) == ("2-00:00:00", "NO")


def test_jobs_of_rack_scale_machines_stay_in_their_domains() -> None:
    alone, mixed = kept("domains", "26.05"), kept("mixed", "26.05")
    assert "      - block: r1\n        nodes: gb[01-18]\n      - block: r2\n" in alone["topology.yaml"]
    queues = conf.objects(alone["slurm.conf"], "PartitionName")
    assert {queue.get("Topology") for queue in queues.values()} == {"nvlink"}
    queues = conf.objects(mixed["slurm.conf"], "PartitionName")
    assert {name for name, queue in queues.items() if queue.get("Topology") == "nvlink"} == {"rack"}


def test_deepops_1295_deepops_1214_nothing_asks_for_nvidias_library() -> None:
    for name, version in CASES:
        gres = kept(name, version)["gres.conf"]
        assert "AutoDetect=off\n" in gres and gres.count("AutoDetect") == 1


SHOW = """
import json, sys
from tests.unit.slurm_files.golden import environment
from landbridge.plan.ansible.inventory import inventory
print(json.dumps(inventory(environment(*sys.argv[1:]))["slurm_controller"]["vars"]["slurm_controller_files"], sort_keys=True))
"""


def test_deepops_307_deepops_1178_deepops_1027_no_host_is_asked_for_what_slurm_is_told(tmp_path: Path) -> None:
    """Rendering gives the same bytes for every user, folder and hash order, without network."""
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
    done = subprocess.run(command, cwd=ROOT, env=other, capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == kept("mixed", "26.05")


def test_deepops_307_what_roles_lay_down_has_nothing_of_other_hosts_in_it() -> None:
    for role in ("slurm_common", "slurm_controller", "slurm_node", "slurm_login"):
        for path in (ROOT / "ansible/roles" / role / "templates").iterdir():
            assert re.findall(r"hostvars|groups|play_hosts|ansible_local|ansible_facts", path.read_text()) == [], path


def test_no_example_is_left_without_a_golden() -> None:
    assert {path.stem for path in (HERE / "environments").iterdir()} == {name for name, _ in CASES}
