"""Drift windows of a served version: the histograms at the start of a window are stored in a file."""

import json
from collections.abc import Iterable
from pathlib import Path

from landbridge.models.drift.gauges import gauge_text
from landbridge.models.drift.judge import DriftReport
from landbridge.models.drift.reference import ModelReference
from landbridge.serving.canary_controller.exposition import MetricSample
from landbridge.serving.canary_controller.guard_counters import CONFIDENCE, FEATURE, SLICE_FEATURE
from landbridge.serving.canary_controller.windows import judged_window
from landbridge.serving.follow.record import write_whole

_HISTOGRAMS = tuple(f"{name}_bucket" for name in (FEATURE, SLICE_FEATURE, CONFIDENCE))


def judge_window(
    path: Path,
    gauges: Path,
    reference: ModelReference,
    model: tuple[str, str],
    samples: Iterable[MetricSample],
    at: float,
    seconds: float,
) -> DriftReport | None:
    """Judge a window that has ended, write its gauges, and begin the next one; None while it goes on.

    `model`: name and version. A window of another version is left out.
    """
    name, version = model
    present = [each for each in samples if each.name in _HISTOGRAMS and each.labels.get("version") == version]
    first, began = _beginning(path, version)
    if first is not None and at - began < seconds:
        return None
    report = judged_window(reference, present, first, version) if first is not None else None
    if report is not None:
        write_whole(gauges, gauge_text(report, name, version, at), mode=0o644)
    rows = [[each.name, dict(each.labels), each.value] for each in present]
    write_whole(path, json.dumps({"version": version, "at": at, "samples": rows}))
    return report


def _beginning(path: Path, version: str) -> tuple[list[MetricSample] | None, float]:
    try:
        data = json.loads(path.read_text())
        if data["version"] == version:
            return [MetricSample(*row) for row in data["samples"]], float(data["at"])
    except (OSError, KeyError, TypeError, ValueError):
        pass
    return None, 0.0
