"""Drill: two HGX servers whose fabric carries 1.1 GB/s, by the command as an operator calls it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from landbridge.acceptance.rungs import RUNGS, groups
from landbridge.cli.main import build
from tests.unit.core.samples import changed
from tests.unit.ops.healthy_ladder import GOOD, printed
from tests.unit.ops.ladder_outputs import nccl

NODES = ("smc01", "smc02")
BETWEEN = ("nccl-pairs", "nccl-all")
#: Words of `landbridge validate` for a value without a threshold, and for one below it.
UNJUDGED = "busbw@17179869184: 1.1 GB/s, no threshold is known"


def validate(folder: Path, monkeypatch: pytest.MonkeyPatch, hardware: dict[str, Any], *words: str) -> tuple[int, str]:
    """Run the command on recorded outputs; only those between nodes are slow."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    group = {
        "hosts": "smc[01-02]",
        "platform": "supermicro-hgx-h100",
        "address": "10.20.1.11",
        "rack": "r1",
        **hardware,
    }
    file, saved, thresholds = folder / "Pulumi.hgx.yaml", folder / "outputs", folder / "thresholds.yaml"
    file.write_text(changed({("onprem", "nodes"): [group]}))
    thresholds.write_text("storage.read: 1\nstorage.write: 1\n")
    saved.mkdir()
    for rung in RUNGS:
        for nodes in groups(rung, NODES):
            name = "smc[01-02]" if len(nodes) == 2 else nodes[0]
            text = nccl(NODES, dict.fromkeys(GOOD, 1.1)) if rung.name in BETWEEN else printed(rung, nodes)
            (saved / f"{rung.name}.{name}.out").write_text(text)
    line = ["validate", "smc[01-02]", "--from", str(saved), "--thresholds", str(thresholds), *words, "-f", str(file)]
    done = CliRunner().invoke(build(), line)
    return done.exit_code, done.output


def test_without_adapters_the_rate_is_unjudged_and_never_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, output = validate(tmp_path, monkeypatch, {})
    assert code == 2 and UNJUDGED in output and output.splitlines()[-1] == "smc[01-02]: unjudged"
    assert "not judged, because no threshold is known: nccl-pairs.busbw@17179869184" in output


@pytest.mark.parametrize(
    "hardware",
    [
        {"adapters": [{"use": "fabric", "kind": "infiniband", "gbps": 400, "count": 8}]},
        {"wiring": "spectrum-x"},
    ],
)
def test_with_adapters_or_a_wiring_the_rate_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hardware: dict[str, Any]
) -> None:
    code, output = validate(tmp_path, monkeypatch, {"hardware": hardware}, "--format", "json")
    report = json.loads(output)
    assert (code, report["status"], report["without_threshold"]) == (1, "failed", [])
    (pair,) = [rung for rung in report["rungs"] if rung["rung"] == "nccl-pairs"]
    (slow,) = [check for check in pair["checks"] if check["what"] == "busbw@8589934592"]
    # 0.8 of eight adapters with 400 Gb/s, which carry 400 GB/s together.
    assert (slow["measured"], slow["at_least"], slow["passed"], slow["confidence"]) == (1.1, 320.0, False, "derived")
    assert "adapters" in slow["source"]
    assert not [rung for rung in report["rungs"] if rung["rung"] == "training"], "no job runs on them"
