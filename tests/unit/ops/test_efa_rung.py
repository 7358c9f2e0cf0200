"""Rung nccl-efa: all-reduce between two instances of a pool, with what AWS has published for their type."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.acceptance.climb import Ladder, ProgramResult, climb
from landbridge.acceptance.result import AcceptanceReport
from landbridge.acceptance.rungs import RUNGS, AcceptanceSettings, command, groups, job
from landbridge.catalog import instances
from landbridge.catalog.hardware.acceptance import acceptance
from landbridge.cli.main import build
from landbridge.plan.ansible.pool_acceptance import efa_thresholds
from tests.unit.core.samples import ROOT
from tests.unit.ops.ladder_outputs import nccl

MIB, GIB = 2**20, 2**30
(EFA,) = (rung for rung in RUNGS if rung.name == "nccl-efa")
NODES = ("p5-1", "p5-2")
PROVIDER = "p5-1:41:41 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct (found 32 nics)\n"
SOCKET = "p5-1:41:41 [0] NCCL INFO NET/Socket : Using [0]eth0:10.60.0.5<0>\n"
#: AWS's own run on two p5.48xlarge.
GOOD = {256 * MIB: 342.8, GIB: 436.9, 4 * GIB: 464.3, 8 * GIB: 478.9, 16 * GIB: 487.0}


def climbed(output: str, instance: str = "p5.48xlarge", given: Mapping[str, float] | None = None) -> AcceptanceReport:
    kinds = dict.fromkeys(NODES, instances()[instance])
    return climb(Ladder("test", {}, lambda *_: ProgramResult(0, output), thresholds=given or {}, instances=kinds))


def test_two_healthy_instances_pass_and_no_rung_of_on_prem_nodes_runs() -> None:
    (outcome,) = climbed(PROVIDER + nccl(NODES, GOOD)).outcomes
    assert (outcome.rung, outcome.nodes, outcome.status) == ("nccl-efa", NODES, "passed")
    judged = {check.name: (check.at_least, check.confidence) for check in outcome.checks if check.unit == "GB/s"}
    assert judged["busbw@8589934592"] == (431.1, "measured") and len(judged) == 5
    assert all("awsome-distributed-ai" in check.source for check in outcome.checks if check.unit == "GB/s")


FAULTS = [
    ("tcp", SOCKET + nccl(NODES, GOOD), "provider: not efa"),
    ("no debug output", nccl(NODES, GOOD), "provider: not efa"),
    ("a slow device", PROVIDER + nccl(NODES, {**GOOD, 8 * GIB: 240.0}), "busbw@8589934592: 240 GB/s, at least 431.1"),
    ("small messages are slow", PROVIDER + nccl(NODES, {**GOOD, 256 * MIB: 166.0}), "busbw@268435456: 166 GB/s"),
    ("one instance", PROVIDER + nccl(NODES[:1], GOOD), "ranks: 8, at least 16"),
    ("wrong sums", PROVIDER + nccl(NODES, GOOD, wrong=2), "wrong values"),
]


@pytest.mark.parametrize(("output", "text"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_of_the_network_fails_both_instances(output: str, text: str) -> None:
    (outcome,) = climbed(output).outcomes
    assert outcome.status == "failed"
    assert any(check.text.startswith(text) for check in outcome.checks if check.passed is False), outcome.checks


@pytest.mark.parametrize(
    ("instance", "size", "at_least", "confidence"),
    [
        ("p5.48xlarge", 16 * GIB, 438.4, "measured"),
        ("p4de.24xlarge", GIB, 69.1, "measured"),
        # No published run: a share of what the EFA devices carry, 400 Gb/s and 3,200 Gb/s.
        ("p4d.24xlarge", 8 * GIB, 40.0, "derived"),
        ("p5en.48xlarge", GIB, 256.0, "derived"),
        ("p6-b200.48xlarge", 8 * GIB, 320.0, "derived"),
    ],
)
def test_thresholds_by_instance_type(instance: str, size: int, at_least: float, confidence: str) -> None:
    by_name = {threshold.measurement: threshold for threshold in efa_thresholds(instances()[instance])}
    threshold = by_name[f"busbw@{size}"]
    assert (threshold.at_least, threshold.confidence) == (at_least, confidence) and threshold.source


def test_no_threshold_is_more_than_aws_has_measured() -> None:
    facts = acceptance().efa
    assert facts.source and facts.date and 0 < facts.share < 1
    for name, run in facts.runs.items():
        for threshold in efa_thresholds(instances()[name]):
            assert threshold.at_least < run[int(threshold.measurement.removeprefix("busbw@"))], (name, threshold)


def test_a_type_without_efa_has_no_threshold() -> None:
    assert efa_thresholds(instances()["t3.large"]) == ()


def test_a_sites_own_threshold_comes_first() -> None:
    report = climbed(PROVIDER + nccl(NODES, GOOD), given={"nccl-efa.busbw@1073741824": 440})
    (failed,) = (check for outcome in report.outcomes for check in outcome.checks if check.passed is False)
    assert (failed.at_least, failed.confidence) == (440, "given")


def test_the_job_runs_in_the_pools_partition_and_shows_the_provider() -> None:
    words = job(EFA, NODES, 8, AcceptanceSettings(programs="/opt/landbridge/tests/bin"), wait=60, partition="p5")
    assert {"--partition=p5", "--nodelist=p5-1,p5-2", "--ntasks-per-node=8", "--mpi=pmix"} <= set(words)
    assert words[-14:-10] == ["env", "NCCL_DEBUG=INFO", "sh", "-c"]
    assert "command -v /opt/landbridge/tests/bin/all_reduce_perf" in words[-10]
    assert command(EFA, 8, AcceptanceSettings())[-2:] == ["-g", "1"]
    assert groups(EFA, ("p5-1", "p5-2", "p5-3")) == (("p5-1", "p5-2"), ("p5-3", "p5-1"))


def landbridge(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), ["validate", *words, "-f", str(ROOT / "stacks/Pulumi.sandbox.yaml")])
    return done.exit_code, done.output


def test_the_command_judges_nodes_of_a_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "nccl-efa.p5-[1-2].out").write_text(PROVIDER + nccl(NODES, GOOD))
    code, output = landbridge("p5-[1-2]", "--from", str(tmp_path), "--format", "json")
    assert (code, [rung["rung"] for rung in json.loads(output)["rungs"]]) == (0, ["nccl-efa"])
    # One node has no partner, and a pool's nodes are not checked together with others.
    assert landbridge("p5-1", "--from", str(tmp_path))[0] == 2
    assert landbridge("p5-1,dgx01", "--from", str(tmp_path))[0] == 2
    assert landbridge("p5-9", "--from", str(tmp_path))[0] == 2
