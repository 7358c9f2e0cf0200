"""Network ports of a machine as the site has wired it: health checks, role rdma and thresholds follow from them."""

from typing import Any

import pytest

from landbridge.acceptance.climb import Ladder, ProgramResult, climb
from landbridge.acceptance.rungs import RUNGS, Rung
from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.plan.ansible.acceptance import bandwidth_thresholds, collective_thresholds, platform_of
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import environment
from tests.unit.ops.ladder_outputs import nccl
from tests.unit.plan.gpu_tools import gpu_tools_variables

GIB = 2**30
RATES = {GIB // 4: 100.0, GIB: 200.0, 8 * GIB: 300.0}


def site(platform: str, **hardware: Any) -> Environment:
    return environment({("onprem", "nodes", 0, "platform"): platform, ("onprem", "nodes", 0, "hardware"): hardware})


def expected(where: Environment) -> dict[str, Any]:
    host: dict[str, Any] = inventory(where)["_meta"]["hostvars"]["dgx01"]["node_health_expected"]
    return {key: host[key] for key in ("ports", "ethernet_ports", "devices", "bonds") if key in host}


def pair_threshold(where: Environment) -> float | None:
    machines = [platform_of(where, name) for name in ("dgx01", "dgx02")]
    thresholds = collective_thresholds([machine for machine in machines if machine is not None])
    return thresholds[-1].at_least if thresholds else None


STATED = [
    {"use": "fabric", "kind": "infiniband", "gbps": 200, "count": 8},
    {"use": "fabric", "kind": "infiniband", "gbps": 200, "devices": ["mlx5_8"]},
    {"use": "storage", "kind": "ethernet", "gbps": 100, "count": 2, "bond": "bond0"},
    {"use": "storage", "kind": "ethernet", "gbps": 25, "count": 1},
]


@pytest.mark.parametrize(
    ("platform", "hardware", "ports", "threshold"),
    [
        # The storage ports of a DGX are InfiniBand or Ethernet: without a wiring none is expected.
        ("dgx-a100", {}, {"ports": {"200": 8}}, 160),
        ("dgx-h100", {}, {"ports": {"400": 8}}, 320),
        ("dgx-h100", {"wiring": "basepod"}, {"ports": {"400": 8}}, 320),
        ("dgx-h200", {"wiring": "basepod-ndr200"}, {"ports": {"200": 8}}, 160),
        ("dgx-h100", {"wiring": "superpod"}, {"ports": {"400": 10}}, 320),
        ("dgx-b300", {}, {}, None),
        ("dgx-b300", {"wiring": "superpod"}, {"ports": {"800": 8}}, 640),
        ("dgx-b300", {"wiring": "spectrum-x"}, {"ethernet_ports": {"400": 16}}, 640),
        ("hgx-h100", {}, {}, None),
        ("supermicro-hgx-h100", {"wiring": "spectrum-x"}, {"ethernet_ports": {"400": 8}}, 320),
        (
            "supermicro-hgx-h100",
            {"adapters": STATED},
            {
                "ports": {"200": 8},
                "ethernet_ports": {"25": 1},
                "devices": {"mlx5_8": {"kind": "infiniband", "gbps": 200}},
                "bonds": {"bond0": {"count": 2, "gbps": 100}},
            },
            180,
        ),
    ],
)
def test_ports_and_threshold_follow_from_the_wiring(
    platform: str, hardware: dict[str, Any], ports: dict[str, Any], threshold: float | None
) -> None:
    where = site(platform, **hardware)
    assert expected(where) == ports
    assert pair_threshold(where) == threshold


@pytest.mark.parametrize(
    ("platform", "hardware", "is_installed"),
    [
        ("dgx-h100", {}, True),
        ("dgx-b300", {}, True),
        ("hgx-h100", {}, False),
        ("hgx-h100", {"wiring": "spectrum-x"}, True),
        ("supermicro-hgx-h100", {"adapters": STATED[:1]}, True),
        ("pcie-l40s", {"adapters": STATED[2:]}, False),
    ],
)
def test_machines_with_a_fabric_get_rdma(platform: str, hardware: dict[str, Any], is_installed: bool) -> None:
    assert gpu_tools_variables(site(platform, **hardware), "dgx01").get("landbridge_rdma", False) is is_installed


def pairs(where: Environment) -> tuple[str, tuple[str, ...]]:
    """Return the status of nccl-pairs on two nodes of the environment with these rates, and its values without a
    threshold.
    """

    def run(rung: Rung, nodes: Any) -> ProgramResult:
        return ProgramResult(0, nccl(nodes, RATES))

    machines = {name: machine for name in ("dgx01", "dgx02") if (machine := platform_of(where, name)) is not None}
    rungs = [rung for rung in RUNGS if rung.name in ("nccl-pairs", "nccl-all")]
    report = climb(Ladder("test", machines, run, rungs=rungs))
    assert report.outcomes[0].rung == "nccl-pairs"
    if report.outcomes[0].status != "failed":
        assert len(report.outcomes) == 2, "nodes without a threshold run the next rung"
    return report.outcomes[0].status, report.outcomes[0].without_threshold


def test_rates_without_a_threshold_are_unjudged() -> None:
    assert pairs(site("supermicro-hgx-h100")) == ("unjudged", (f"nccl-pairs.busbw@{8 * GIB}",))
    slow = [{"use": "fabric", "kind": "infiniband", "gbps": 200, "count": 8}]
    assert pairs(site("supermicro-hgx-h100", adapters=slow)) == ("passed", ())
    assert pairs(site("supermicro-hgx-h100", wiring="spectrum-x"))[0] == "failed"


def test_the_host_threshold_of_a_b300_is_that_of_its_processors_lanes() -> None:
    for threshold in bandwidth_thresholds(platforms()["dgx-b300"])[:2]:
        # Three quarters of 16 lanes of PCIe 5; PCIe 6 would be 90.8.
        assert (threshold.at_least, threshold.confidence) == (47.3, "derived")


def test_nodes_of_different_fabrics_are_in_different_trees() -> None:
    def nodes(second: dict[str, Any]) -> Environment:
        address, platform = {"address": "10.20.1.11", "rack": "r1"}, {"platform": "hgx-h100"}
        first = {"hosts": "dgx[01-02]", **platform, **address, "hardware": {"adapters": STATED[:1]}}
        return environment(
            {("onprem", "nodes"): [first, {"hosts": "rx[01-02]", **platform, "address": "10.20.1.21", **second}]}
        )

    text = slurm_files(nodes({"rack": "r2", "hardware": {"wiring": "spectrum-x"}}))["topology.yaml"]
    assert "switch: onprem\n" not in text and "nodes: dgx[01-02]" in text and "nodes: rx[01-02]" in text
    text = slurm_files(nodes({"rack": "r2", "hardware": {"adapters": STATED[:1]}}))["topology.yaml"]
    assert "switch: onprem\n        children: onprem-r1,onprem-r2" in text
    text = slurm_files(nodes({"rack": "r1", "hardware": {"wiring": "spectrum-x"}}))["topology.yaml"]
    assert "switch: onprem-r1-infiniband\n        nodes: dgx[01-02]" in text
    assert "switch: onprem-r1-ethernet\n        nodes: rx[01-02]" in text
