"""Drift windows of a served version: the histograms at the start of a window are stored in a file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from landbridge.models.drift.gauges import gauge_text, window_text
from landbridge.models.drift.judge import DriftReport
from landbridge.models.drift.reference import ModelReference
from landbridge.serving.canary_controller.exposition import MetricSample
from landbridge.serving.canary_controller.guard_counters import CONFIDENCE, FEATURE, SLICE_FEATURE
from landbridge.serving.canary_controller.windows import judged_window, since_start
from landbridge.serving.follow.record import write_whole

_HISTOGRAMS = tuple(f"{name}_bucket" for name in (FEATURE, SLICE_FEATURE, CONFIDENCE))


def judge_window(
    path: Path,
    gauges: Path,
    reference: ModelReference,
    model: tuple[str, str, str],
    samples: Mapping[str, Sequence[MetricSample]],
    at: float,
    seconds: float,
) -> DriftReport | None:
    """Judge a window that has ended, write its gauges, and begin the next one; None while it goes on.

    `model`: name, version, and digest of its files; `samples`: those of each server. A window of another version, or of other files of
    its number, is left out. One in which nothing can be judged goes on, and the gauges keep the time of its start.
    """
    name, version, content = model
    present = {
        server: [each for each in read if each.name in _HISTOGRAMS and each.labels.get("version") == version]
        for server, read in samples.items()
    }
    first, began = _beginning(path, version, content)
    if first is not None and at - began < seconds:
        return None
    report, judged = None, ""
    if first is not None:
        report = judged_window(reference, since_start(present, first), (), version)
        if report.is_empty:
            return None
        judged = gauge_text(report, name, version, at)
    write_whole(gauges, judged + window_text(name, version, at), mode=0o644)
    rows = {server: [[each.name, dict(each.labels), each.value] for each in read] for server, read in present.items()}
    write_whole(path, json.dumps({"version": version, "content": content, "at": at, "samples": rows}))
    return report


def _beginning(path: Path, version: str, content: str) -> tuple[dict[str, list[MetricSample]] | None, float]:
    try:
        data = json.loads(path.read_text())
        # A window of an earlier release has no digest.
        if (data["version"], data.get("content", content)) == (version, content):
            servers = {server: [MetricSample(*row) for row in rows] for server, rows in data["samples"].items()}
            return servers, float(data["at"])
    except (AttributeError, OSError, KeyError, TypeError, ValueError):
        pass
    return None, 0.0
