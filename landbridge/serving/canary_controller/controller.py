"""Step of a canary's controller: a look, a decision, and its effects, each of which may be repeated.

The record is stored before the effects. A controller that was killed between two effects applies all of them at its next step: the
weight first, then the alias, then the tags.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from landbridge.models.canary.decide import CanaryAction, CanaryDecision, CanaryLook, CanaryRecord, begun, decided
from landbridge.models.canary.plan import CanaryPlan
from landbridge.models.canary.record import parse, to_json
from landbridge.timestamps import iso

TAG = "landbridge.canary"


class CanaryGateway(Protocol):
    """Gateway in front of the servers of both versions."""

    def set_share(self, percent: int) -> None:
        """Send `percent` of the requests to the candidate and the rest to the champion."""


class CanaryRegistry(Protocol):
    """Registry of the model. Both moves change nothing if the alias is there already."""

    def promote(self, model: str, version: str, reason: str) -> None:
        """Make a version the champion."""

    def withdraw(self, model: str, version: str, reason: str) -> None:
        """Remove the candidate's alias from a version."""

    def tag(self, model: str, version: str, tags: Mapping[str, str]) -> None:
        """Set tags of a version."""


def stored(path: Path) -> CanaryRecord | None:
    """Return the record of a file; None before the first step. Raises ValueError for a file of another form."""
    return parse(path.read_text()) if path.exists() else None


def step(
    plan: CanaryPlan,
    path: Path,
    look: CanaryLook,
    versions: tuple[str, str, str],
    gateway: CanaryGateway,
    registry: CanaryRegistry,
    content: str = "",
) -> CanaryDecision:
    """Make one step of a canary: `versions` are the model, its champion and the candidate, `content` the digests of their files."""
    record = stored(path)
    if record is None or not record.is_of(versions, content):
        record = begun(*versions, look, is_shadow=plan.shadow is not None, content=content)
    decision, record = decided(plan, record, look)
    store(path, record)
    apply(record, decision, look.at, gateway, registry)
    return decision


def store(path: Path, record: CanaryRecord) -> None:
    """Write the record of a canary atomically: readers get the old or the new record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with new.open("w") as file:
        file.write(to_json(record))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def apply(
    record: CanaryRecord, decision: CanaryDecision, at: float, gateway: CanaryGateway, registry: CanaryRegistry
) -> None:
    """Apply a decision: weight, alias, tags."""
    gateway.set_share(decision.weight)
    match decision.action:
        case CanaryAction.PROMOTE:
            registry.promote(record.model, record.candidate, f"canary: {decision.reason}")
        case CanaryAction.ROLL_BACK:
            registry.withdraw(record.model, record.candidate, f"canary: {decision.reason}")
        case CanaryAction.HOLD:
            return
    registry.tag(record.model, record.candidate, decision_tags(record, decision, at))


def decision_tags(record: CanaryRecord, decision: CanaryDecision, at: float) -> dict[str, str]:
    """Return the tags of a decision: action, reason, weight, time, and the figures of each guard."""
    figures = {
        name: {
            "champion": [each.champion.bad, each.champion.all],
            "candidate": [each.candidate.bad, each.candidate.all],
            "e_harm": float(f"{each.harm_e:.4g}"),
            "e_safe": float(f"{each.safe_e:.4g}"),
        }
        for name, each in record.evidence.items()
    }
    shadow = {name: [each.copies.bad, each.copies.all] for name, each in record.shadow.items()}
    return {
        f"{TAG}.decision": decision.action,
        f"{TAG}.reason": decision.reason,
        f"{TAG}.weight": str(decision.weight),
        f"{TAG}.champion": record.champion,
        f"{TAG}.at": iso(at),
        f"{TAG}.guards": json.dumps(figures, separators=(",", ":")),
        **({f"{TAG}.shadow": json.dumps(shadow, separators=(",", ":"))} if shadow else {}),
    }
