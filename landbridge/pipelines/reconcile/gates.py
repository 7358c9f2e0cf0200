"""Gates: comparison of a measured metric with a bound or with the champion's."""

import math
from collections.abc import Mapping
from typing import Any

from landbridge.pipelines.definition.model import PipelineGate, PipelineStep
from landbridge.pipelines.reconcile.view import Measurement


def gate_fault(gate: PipelineGate, measurement: Measurement) -> str:
    """Return the reason why a gate is not passed; empty if it is."""
    value = measurement.metrics.get(gate.metric)
    if value is None:
        return f"the metrics have no {gate.metric}"
    if gate.at_least is not None and value < gate.at_least:
        return f"{gate.metric} is {value:g}; at least {gate.at_least:g} is needed"
    if gate.at_most is not None and value > gate.at_most:
        return f"{gate.metric} is {value:g}; at most {gate.at_most:g} is permitted"
    if gate.champion is None:
        return ""
    champion = measurement.champions.get(gate.champion)
    if champion is None:
        return ""
    best = champion.get(gate.metric)
    if best is None:
        return f"the champion has no {gate.metric}"
    worse = best - value if gate.better == "higher" else value - best
    if worse > gate.margin:
        return f"{gate.metric} is {value:g}; the champion has {best:g}, and the margin is {gate.margin:g}"
    return ""


def gate_faults(step: PipelineStep, measurement: Measurement) -> list[str]:
    """Return the reasons of all gates that are not passed."""
    return [fault for gate in step.gates if (fault := gate_fault(gate, measurement))]


def metrics_of(data: Any) -> dict[str, float]:
    """Return the metrics of a JSON file: an object of numbers, or one with them below `metrics` (model.json).

    Raises ValueError for other data, and for numbers that are not finite.
    """
    table = data.get("metrics", data) if isinstance(data, Mapping) else None
    if not isinstance(table, Mapping):
        raise ValueError("the metrics are not an object of numbers")
    metrics = {}
    for name, value in table.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not math.isfinite(value):
                raise ValueError(f"{name} is not a finite number")
            metrics[str(name)] = float(value)
    return metrics
