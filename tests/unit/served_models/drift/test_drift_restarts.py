"""Windows of drift whose servers start again, are scaled away, or answer too few requests."""

from pathlib import Path

import numpy as np

from landbridge.models.drift.judge import DriftReport
from landbridge.models.drift.reference import binned, reference_of
from landbridge.serving.canary_controller.exposition import MetricSample
from landbridge.serving.follow.config import FollowConfig
from landbridge.serving.follow.drift_windows import judge_window

RNG = np.random.default_rng(4)
REFERENCE = reference_of({"x[0]": RNG.normal(size=5000).tolist()})
EDGES = REFERENCE.features["x[0]"].edges


def read(count: int, shift: float = 2.0) -> list[MetricSample]:
    """Return the histogram of a server that has answered a number of requests since its start."""
    counts = binned(RNG.normal(shift, size=count).tolist(), EDGES).counts
    bounds = [*map(str, EDGES), "+Inf"]
    totals = np.cumsum(counts).tolist()
    name = "landbridge_model_feature_bucket"
    return [
        MetricSample(name, {"version": "1", "feature": "x[0]", "le": bound}, float(total))
        for bound, total in zip(bounds, totals, strict=True)
    ]


def judge(folder: Path, servers: dict[str, list[MetricSample]], at: float, content: str = "") -> DriftReport | None:
    """Look at the servers."""
    return judge_window(folder / "w.json", folder / "w.prom", REFERENCE, ("digits", "1", content), servers, at, 3600)


def test_kthena_1037_a_server_that_is_scaled_away_hides_no_drift(tmp_path: Path) -> None:
    judge(tmp_path, {"a": read(0), "b": read(9000, 0.0)}, 1000.0)
    report = judge(tmp_path, {"a": read(5000)}, 4600.0)
    assert report is not None
    assert [each.feature for each in report.drifted] == ["x[0]"]


def test_kthena_1042_a_server_that_starts_again_hides_no_drift(tmp_path: Path) -> None:
    judge(tmp_path, {"a": read(9000, 0.0)}, 1000.0)
    report = judge(tmp_path, {"a": read(5000)}, 4600.0)
    assert report is not None
    assert report.drifted and not report.unjudged


def test_a_window_without_a_judgement_goes_on_and_keeps_the_time_of_its_start(tmp_path: Path) -> None:
    judge(tmp_path, {"a": read(0)}, 1000.0)
    assert judge(tmp_path, {"a": read(50)}, 4600.0) is None
    # A version that was never judged has a time too: the alert ModelDriftNotJudged counts from it.
    start = 'landbridge_model_drift_window_start_timestamp_seconds{model="digits",version="1"}'
    assert (tmp_path / "w.prom").read_text().splitlines()[1:] == [f"{start} 1000"]
    assert judge(tmp_path, {"a": read(500)}, 8200.0) is not None
    gauges = (tmp_path / "w.prom").read_text()
    assert 'judged_timestamp_seconds{model="digits",version="1"} 8200' in gauges
    assert f"{start} 8200" in gauges
    assert 'drift_unjudged{model="digits",version="1"} 0' in gauges


def test_a_version_that_was_created_again_begins_a_window_of_its_own(tmp_path: Path) -> None:
    judge(tmp_path, {"a": read(0)}, 1000.0, "former")
    assert judge(tmp_path, {"a": read(5000)}, 4600.0, "present") is None
    report = judge(tmp_path, {"a": read(9000)}, 8200.0, "present")
    assert report is not None and report.drifted


def test_evidently_171_the_course_of_a_day_is_in_a_window() -> None:
    fields = FollowConfig.__dataclass_fields__
    assert fields["drift_seconds"].default == 86_400.0
