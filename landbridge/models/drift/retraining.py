"""Trigger of a retraining on drift: after several windows, at most once in a cool-down, and within a budget."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from landbridge.models.drift.judge import DriftReport


class RetrainingAction(StrEnum):
    """Decision about a retraining, or the reason why there is none."""

    NONE = "none"
    WAIT = "wait"
    COOL_DOWN = "cool_down"
    OVER_BUDGET = "over_budget"
    RETRAIN = "retrain"


@dataclass(frozen=True, slots=True)
class RetrainingLimits:
    """Limits: windows of drift in a row, seconds between retrainings, and USD of retrainings in the last 30 days."""

    windows: int
    cool_down_seconds: float
    budget_usd: float


@dataclass(frozen=True, slots=True)
class Retraining:
    """Retraining that was triggered, with its cost, or its estimate until the cost is known."""

    at: float
    usd: float


BUDGET_SECONDS = 30 * 86_400.0


def retraining(
    reports: Sequence[DriftReport],
    earlier: Sequence[Retraining],
    estimate_usd: float,
    limits: RetrainingLimits,
    now: float,
) -> tuple[RetrainingAction, str]:
    """Return the decision after the newest windows, the oldest first, and its reason."""
    drifting = 0
    for report in reversed([each for each in reports if not each.is_empty]):
        if not report.reason:
            break
        drifting += 1
    if not drifting:
        return RetrainingAction.NONE, "the newest window has no drift"
    reason = next(each.reason for each in reversed(reports) if not each.is_empty)
    if drifting < limits.windows:
        return RetrainingAction.WAIT, f"{drifting} of {limits.windows} windows with drift: {reason}"
    last = max((each.at for each in earlier), default=None)
    if last is not None and now - last < limits.cool_down_seconds:
        left = limits.cool_down_seconds - (now - last)
        return (
            RetrainingAction.COOL_DOWN,
            f"the last retraining was triggered too recently, {left / 3600:.1f} h are left",
        )
    spent = sum(each.usd for each in earlier if now - each.at < BUDGET_SECONDS)
    if spent + estimate_usd > limits.budget_usd:
        message = f"{spent:.2f} USD in 30 days and {estimate_usd:.2f} for this one are over {limits.budget_usd:.2f}"
        return RetrainingAction.OVER_BUDGET, message
    return RetrainingAction.RETRAIN, reason


def trigger_record(model: str, version: str, at: float, reason: str) -> str:
    """Return the record that the pipelines' trigger `drift` reads: one object in JSON. `key` is new for each event."""
    record = {"key": f"{model}/{version}/{at:.0f}", "model": model, "version": version, "at": at, "reason": reason}
    return json.dumps(record) + "\n"
