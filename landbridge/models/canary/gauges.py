"""State of a canary as gauges in Prometheus's text format."""

from collections.abc import Iterator

from landbridge.models.canary.decide import CanaryAction, CanaryDecision, CanaryRecord


def canary_gauge_text(record: CanaryRecord, decision: CanaryDecision, at: float) -> str:
    """Return the gauges: whether it is undecided or rolled back, the candidate's weight, and the times of start and step."""
    return "\n".join(_lines(record, decision, at)) + "\n"


def _lines(record: CanaryRecord, decision: CanaryDecision, at: float) -> Iterator[str]:
    labels = f'model="{record.model}",champion="{record.champion}",candidate="{record.candidate}"'
    values = {
        "undecided": int(record.outcome is None),
        "rolled_back": int(record.outcome is CanaryAction.ROLL_BACK),
        "weight_percent": decision.weight,
        "shadow": int(record.is_shadow and record.outcome is None),
        "start_timestamp_seconds": round(record.started_at),
        "step_timestamp_seconds": round(at),
    }
    for name, value in values.items():
        yield f"# TYPE landbridge_model_canary_{name} gauge"
        yield f"landbridge_model_canary_{name}{{{labels}}} {value}"
