"""NVLink domains of pools in Slurm's topology: only where all nodes are certainly in one UltraServer."""

from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.findings import DataPath
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import REMOVED, environment
from tests.unit.plan.slurm.test_slurm import fields, settings

POOL: DataPath = ("aws", "pools", 0)
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4"}
LARGE, SMALL = "u-p6e-gb200x72", "u-p6e-gb200x36"
GB200: dict[DataPath, Any] = {
    (*POOL, "instance"): "p6e-gb200.36xlarge",
    (*POOL, "max_nodes"): 18,
    (*POOL, "capacity"): [{**BLOCK, "count": 18, "ultraserver": LARGE}],
}
RACK = {"hosts": "gb[01-18]", "platform": "gb200-nvl72", "address": "10.20.1.11", "rack": "r1"}


def files(changes: dict[DataPath, Any], version: str = "26.05") -> dict[str, str]:
    return slurm_files(environment({**changes, ("scheduler", "slurm", "version"): version}))


def blocks(changes: dict[DataPath, Any]) -> dict[str, str]:
    """Return the nodes of each block in topology.yaml."""
    topologies = yaml_text.load(files(changes)["topology.yaml"])
    blocks_of_nvlink = [topology["block"]["blocks"] for topology in topologies if topology["topology"] == "nvlink"]
    return {block["block"]: block["nodes"] for part in blocks_of_nvlink for block in part}


@pytest.mark.parametrize(
    ("capacity", "max_nodes", "is_one_domain"),
    [
        ([{**BLOCK, "count": 18, "ultraserver": LARGE}], 18, True),
        ([{**BLOCK, "count": 18, "ultraserver": LARGE}], 4, True),
        ([{**BLOCK, "count": 9}], 9, True),
        ([{**BLOCK, "count": 18, "ultraserver": SMALL}], 18, False),
        ([{**BLOCK, "count": 18}], 18, False),
        ([{**BLOCK, "count": 36, "ultraserver": LARGE}], 18, False),
        ([{**BLOCK, "ultraserver": LARGE}], 18, False),
        ([{**BLOCK, "count": 18, "ultraserver": LARGE}], 19, False),
        ([{**BLOCK, "count": 18, "ultraserver": LARGE}, {**BLOCK, "reservation": "cr-0123456789abcdef1"}], 18, False),
        ([{"kind": "on_demand"}], 18, False),
    ],
)
def test_a_pool_is_a_block_if_it_is_one_ultraserver(
    capacity: list[dict[str, Any]], max_nodes: int, is_one_domain: bool
) -> None:
    changes = {**GB200, (*POOL, "capacity"): capacity, (*POOL, "max_nodes"): max_nodes}
    assert blocks(changes) == ({"aws-p5": f"p5-[1-{max_nodes}]"} if is_one_domain else {})


def test_instances_with_nvlink_inside_only_are_no_block() -> None:
    assert blocks({(*POOL, "capacity"): [{**BLOCK, "count": 4}]}) == {}


def test_a_pool_that_also_launches_in_another_region_is_no_block() -> None:
    region = {"cidr": "10.70.0.0/16", "pools": {"p5": {"capacity": [{**BLOCK, "zone": "use2-az1"}]}}}
    assert blocks({**GB200, ("aws", "other_regions"): {"us-east-2": region}}) == {}


def test_the_pools_partition_uses_the_blocks() -> None:
    conf = settings(files(GB200)["slurm.conf"])
    assert fields(conf["PartitionName=p5"])["Topology"] == "nvlink"


def test_a_partition_over_both_sites_keeps_the_tree_without_a_common_root() -> None:
    rendered = files({**GB200, ("onprem", "nodes"): [RACK]})
    conf = settings(rendered["slurm.conf"])
    assert "Topology" not in fields(conf["PartitionName=gpu"])
    assert fields(conf["PartitionName=p5"])["Topology"] == fields(conf["PartitionName=onprem"])["Topology"] == "nvlink"
    old = files({**GB200, ("onprem", "nodes"): [RACK]}, "24.11")
    assert settings(old["slurm.conf"])["TopologyPlugin"] == "topology/tree"


def test_releases_without_topology_yaml_have_blocks_if_all_nodes_are_in_domains() -> None:
    alone = files({**GB200, ("onprem", "nodes"): REMOVED}, "24.11")
    assert settings(alone["slurm.conf"])["TopologyPlugin"] == "topology/block"
    assert "BlockName=aws-p5 Nodes=p5-[1-18]" in alone["topology.conf"]
