"""Judgement of a window as gauges in Prometheus's text format."""

from collections.abc import Iterator

from landbridge.models.drift.judge import DriftReport


def gauge_text(report: DriftReport, model: str, version: str, at: float) -> str:
    """Return the gauges: distances by feature and slice, whether each has drifted, the estimated accuracy, and the time."""
    return "\n".join(_lines(report, f'model="{model}",version="{version}"', at)) + "\n"


def window_text(model: str, version: str, at: float) -> str:
    """Return the gauge of the start of a window that is not judged yet."""
    name = "landbridge_model_drift_window_start_timestamp_seconds"
    return f'# TYPE {name} gauge\n{name}{{model="{model}",version="{version}"}} {at:.0f}\n'


def _lines(report: DriftReport, labels: str, at: float) -> Iterator[str]:
    yield "# TYPE landbridge_model_drift_judged_timestamp_seconds gauge"
    yield f"landbridge_model_drift_judged_timestamp_seconds{{{labels}}} {at:.0f}"
    yield "# TYPE landbridge_model_drift_unjudged gauge"
    yield f"landbridge_model_drift_unjudged{{{labels}}} {len(report.unjudged)}"
    for name, field in (("psi", "psi"), ("ks", "ks"), ("drifted", "drifted")):
        yield f"# TYPE landbridge_model_drift_{name} gauge"
        for each in report.features:
            place = f'{labels},slice="{_escaped(each.slice)}",feature="{_escaped(each.feature)}"'
            yield f"landbridge_model_drift_{name}{{{place}}} {float(getattr(each, field)):.6g}"
    if report.accuracy is not None and report.expected_accuracy is not None:
        yield "# TYPE landbridge_model_estimated_accuracy gauge"
        yield f"landbridge_model_estimated_accuracy{{{labels}}} {report.accuracy:.6g}"
        yield "# TYPE landbridge_model_accuracy_drop gauge"
        yield f"landbridge_model_accuracy_drop{{{labels}}} {report.expected_accuracy - report.accuracy:.6g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
