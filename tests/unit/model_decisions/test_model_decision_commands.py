"""`landbridge model drift` on files."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.models.drift.reference import binned, reference_of


def run(*words: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(build(), ["model", *map(str, words)])


def metrics(values: dict[str, list[float]], edges: dict[str, tuple[float, ...]], confidence: list[float]) -> str:
    """Return the metrics of a model server with histograms of features and confidence."""
    lines = []
    for name, each in values.items():
        counts, total = binned(each, edges[name]).counts, 0
        for bound, count in zip((*map(str, edges[name]), "+Inf"), counts, strict=True):
            total += count
            lines.append(f'landbridge_model_feature_bucket{{version="3",feature="{name}",le="{bound}"}} {total}')
    for bound in [number / 10 for number in range(1, 11)]:
        low = sum(value <= bound for value in confidence)
        lines.append(f'landbridge_model_confidence_bucket{{version="3",le="{bound}"}} {low}')
    lines.append(f'landbridge_model_confidence_bucket{{version="3",le="+Inf"}} {len(confidence)}')
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_drift_is_judged_between_two_readings(tmp_path: Path, shift: float) -> None:
    rng = np.random.default_rng(1)
    rows = {"x[0]": rng.normal(size=2000).tolist(), "x[1]": rng.normal(size=2000).tolist()}
    reference = reference_of(rows, rng.beta(9, 1, 2000).tolist(), 0.95)
    (tmp_path / "model.json").write_text(
        json.dumps({"name": "digits", "version": "3", "reference": reference.to_dict()})
    )
    edges = {name: counts.edges for name, counts in reference.features.items()}
    # Before the window, other requests had very different values; only the window counts.
    old = {"x[0]": [9.0] * 500, "x[1]": [9.0] * 500}
    new = {"x[0]": rng.normal(shift, size=500).tolist(), "x[1]": rng.normal(size=500).tolist()}
    (tmp_path / "before.prom").write_text(metrics(old, edges, [0.1] * 500))
    whole = {name: old[name] + new[name] for name in old}
    (tmp_path / "after.prom").write_text(metrics(whole, edges, [0.1] * 500 + rng.beta(9, 1, 500).tolist()))
    trigger, gauges = tmp_path / "trigger.json", tmp_path / "drift.prom"
    done = run(
        *("drift", tmp_path / "model.json", "--before", tmp_path / "before.prom", "--metrics", tmp_path / "after.prom"),
        *("--trigger", trigger, "--gauges", gauges, "--format", "json"),
    )
    assert done.exit_code == (1 if shift else 0), done.output
    report = json.loads(done.stdout)
    assert [each["feature"] for each in report["features"] if each["drifted"]] == (["x[0]"] if shift else [])
    assert report["accuracy"] == pytest.approx(0.95, abs=0.03)
    assert trigger.exists() == bool(shift)
    assert (
        'landbridge_model_drift_drifted{model="digits",version="3",slice="all",feature="x[1]"} 0' in gauges.read_text()
    )
    if shift:
        record = json.loads(trigger.read_text())
        assert set(record) == {"key", "model", "version", "at", "reason"}
        assert record["reason"].startswith("x[0] in all: PSI ")


def test_a_manifest_without_a_reference_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"name": "digits", "reference": {}}))
    (tmp_path / "a.prom").write_text("")
    done = run("drift", tmp_path / "model.json", "--metrics", tmp_path / "a.prom")
    assert done.exit_code == 2
    assert "not a reference" in done.stderr
