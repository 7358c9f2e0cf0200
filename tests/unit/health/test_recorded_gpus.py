"""Health checks on the outputs of a real H200 and a real H100, acceptance on those of the H200 (recorded_*/README.md)."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from landbridge.acceptance import outputs
from landbridge.acceptance.judge import judge
from landbridge.acceptance.rungs import RUNGS
from landbridge.catalog import platforms
from landbridge.catalog.hardware.gpus import gpus as gpu_models
from landbridge.catalog.hardware.xids import xids
from tests.unit.health.standins import Standins, machine

__all__ = ["machine"]

from node_health import gpus, kernel, query, recovery
from node_health.run import Output, run

RECORDED = Path(__file__).with_name("recorded_h200")
REPLAY = """#!/usr/bin/python3 -IB
import shlex, sys
from pathlib import Path
for path in sorted(Path({folder!r}).glob("*.txt")):
    command, _, rest = path.read_text().partition("\\n")
    if command == "$ " + shlex.join(["nvidia-smi", *sys.argv[1:]]):
        text, _, code = rest.rpartition("[exit ")
        sys.stdout.write(text)
        sys.exit(int(code.strip().rstrip("]")))
sys.exit("not recorded: " + shlex.join(sys.argv[1:]))
"""


FOLDERS = {"h200-sxm": RECORDED, "h100-sxm5": RECORDED.with_name("recorded_h100")}


@pytest.fixture(params=sorted(FOLDERS))
def model_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def replay(machine: Standins, model_name: str) -> Standins:
    """Return a node on which nvidia-smi prints the recorded outputs."""
    program = machine.root / "usr/bin/nvidia-smi"
    program.write_text(REPLAY.format(folder=str(FOLDERS[model_name])))
    return machine


@pytest.fixture
def expected(model_name: str) -> dict[str, Any]:
    return expectations(model_name)


def expectations(model_name: str, **changes: Any) -> dict[str, Any]:
    model = gpu_models()[model_name]
    return {
        "count": 1,
        "type": model.type,
        "name": model.name,
        "memory_mib": model.memory_mib,
        "pcie_width": 16,
        "pcie_generation": 5,
        "errors": "row_remapping",
        "driver_branch": "580",
        "fabric": True,
        "fabric_seconds": 0,
        **changes,
    }


def test_a_healthy_gpu_has_no_problem_and_no_warning(replay: Standins, expected: dict[str, Any]) -> None:
    assert gpus.check(expected) == ([], [])
    assert recovery.check() == ([], True)


def test_a_gpu_without_any_nvlink_is_not_passed(replay: Standins, expected: dict[str, Any]) -> None:
    problems, _ = gpus.check(expected | {"links": 18})
    assert [(problem.check, problem.detail) for problem in problems] == [("nvlink", "GPU 0 has 0 of 18 links")]


def test_a_lacking_gpu_is_counted(replay: Standins, expected: dict[str, Any]) -> None:
    problems, _ = gpus.check(expected | {"count": 2})
    assert [(problem.check, problem.detail, problem.action) for problem in problems] == [
        ("gpu", "1 of 2 are there", "reboot")
    ]


def test_no_gpu_at_all_needs_a_reboot(machine: Standins) -> None:
    machine.inject(absent=list(range(8)))
    problems, _ = gpus.check(expectations("h200-sxm", count=8))
    assert [(problem.check, problem.detail, problem.action) for problem in problems] == [
        ("gpu", "0 of 8 are there", "reboot")
    ]


def test_another_model_of_the_same_generation_is_a_problem(replay: Standins, model_name: str) -> None:
    other = next(name for name in FOLDERS if name != model_name)
    problems, _ = gpus.check(expectations(other))
    assert "model" in {problem.check for problem in problems}


def test_errors_of_programs_do_not_drain_the_node(tmp_path: Path) -> None:
    draining = {str(number): xid.action for number, xid in xids().items() if xid.drains}
    assert kernel.check(draining, tmp_path / "events.json", RECORDED / "kmsg.txt") == []
    # The same lines are recognised as Xids 13, 31 and 43.
    every = {str(number): "inspect" for number in range(1, 200)}
    problems = kernel.check(every, tmp_path / "all.json", RECORDED / "kmsg.txt")
    assert [problem.detail for problem in problems] == ["13 at 0000:00:06", "31 at 0000:00:06", "43 at 0000:00:06"]


def test_the_recording_has_each_command_of_the_checks(model_name: str) -> None:
    recorded = FOLDERS[model_name].glob("smi-*.txt")
    commands = [shlex.split(path.read_text().splitlines()[0])[1:] for path in sorted(recorded)]
    for fields in (query.ALL, query.HEALTH, query.FABRIC, query.RECOVERY):
        assert ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"] in commands
    assert ["nvidia-smi", "nvlink", "--status"] in commands


def test_copies_of_one_gpu_reach_the_threshold_of_the_host() -> None:
    text = (RECORDED / "acceptance/nvbandwidth.json").read_text()
    rung = next(rung for rung in RUNGS if rung.name == "bandwidth")
    checks = judge(rung, [platforms()["hgx-h200"]], text, {})
    assert [(check.name.partition(",")[0], check.passed) for check in checks] == [
        ("host_to_device_memcpy_ce", True),
        ("device_to_host_memcpy_ce", True),
    ]


def test_one_rank_is_not_judged_by_bus_bandwidth() -> None:
    text = (RECORDED / "acceptance/all_reduce_perf.txt").read_text()
    collective = outputs.collective(text)
    assert (collective.ranks, collective.hosts, collective.wrong) == (1, ("vm",), 0)
    assert set(collective.busbw.values()) == {0.0}
    hgx = platforms()["hgx-h200"]
    alone = hgx.model_copy(update={"gpus": hgx.gpus.model_copy(update={"count": 1})})
    rung = next(rung for rung in RUNGS if rung.name == "nccl-node")
    checks = judge(rung, [alone], text, {"nccl-node.busbw@17179869184": 100.0})
    assert [(check.name, check.passed, check.reported_only) for check in checks] == [
        ("ranks", True, False),
        ("hosts", True, False),
        ("wrong values", True, False),
        ("busbw@17179869184", None, True),
    ]


def test_the_training_example_learned() -> None:
    losses = outputs.losses((RECORDED / "acceptance/digits.txt").read_text())
    assert len(losses) == 6
    assert losses[-1] < losses[0]


def test_the_standin_lists_no_gpu_without_nvlink(machine: Standins) -> None:
    recorded = (RECORDED / "smi-nvlink-status.txt").read_text().splitlines()
    assert recorded == ["$ nvidia-smi nvlink --status", "[exit 0]"]
    without = next(name for name, platform in platforms().items() if platform.gpu.nvlink is None)
    machine.become(without)
    assert run(["nvidia-smi", "nvlink", "--status"]) == Output(0, "")
