"""Record of a canary as JSON: small enough for a file or a tag, and rebuilt from counters if it is lost."""

import json
from collections.abc import Mapping
from typing import Any

from landbridge.models.canary.decide import CanaryAction, CanaryRecord
from landbridge.models.canary.guards import GuardEvidence
from landbridge.models.canary.shadow import ShadowEvidence
from landbridge.models.canary.tallies import Tally, VersionCounters

SCHEMA = 1


def to_json(record: CanaryRecord) -> str:
    """Return a record as JSON in one line."""
    data = {
        "schema": SCHEMA,
        "model": record.model,
        "champion": record.champion,
        "candidate": record.candidate,
        "started_at": record.started_at,
        "step": record.step,
        "step_at": record.step_at,
        "step_requests": record.step_requests,
        "extended": record.extended,
        "down_at": record.down_at,
        "outcome": record.outcome,
        "reason": record.reason,
        "seen": {side: _plain(servers) for side, servers in record.seen.items()},
        "evidence": {
            name: {
                "harm": list(each.harm),
                "safe": each.safe,
                "bad": each.bad,
                "requests": each.requests,
                "champion": [each.champion.bad, each.champion.all],
                "candidate": [each.candidate.bad, each.candidate.all],
            }
            for name, each in record.evidence.items()
        },
        "content": record.content,
        "is_shadow": record.is_shadow,
        "shadow": {
            name: {
                "harm": list(each.harm),
                "safe": list(each.safe),
                "copies": [each.copies.bad, each.copies.all],
            }
            for name, each in record.shadow.items()
        },
    }
    return json.dumps(data, separators=(",", ":"))


def parse(text: str) -> CanaryRecord:
    """Return the record of a JSON text. Raises ValueError for another form."""
    try:
        data = json.loads(text)
        if data.pop("schema") != SCHEMA:
            raise ValueError("its schema is not 1")
        outcome = data.pop("outcome")
        seen, evidence = data.pop("seen"), data.pop("evidence")
        # A record of an earlier release has no shadow.
        shadow = data.pop("shadow", {})
        return CanaryRecord(
            **data,
            outcome=CanaryAction(outcome) if outcome is not None else None,
            seen={side: _counters(servers) for side, servers in seen.items()},
            evidence={name: _evidence(each) for name, each in evidence.items()},
            shadow={
                name: ShadowEvidence(tuple(each["harm"]), tuple(each["safe"]), Tally(*each["copies"]))
                for name, each in shadow.items()
            },
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"it is not a record of a canary: {error}") from None


def _plain(servers: VersionCounters) -> dict[str, dict[str, list[int]]]:
    return {
        server: {guard: [tally.bad, tally.all] for guard, tally in guards.items()} for server, guards in servers.items()
    }


def _counters(servers: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Tally]]:
    return {server: {guard: Tally(*pair) for guard, pair in guards.items()} for server, guards in servers.items()}


def _evidence(each: Mapping[str, Any]) -> GuardEvidence:
    return GuardEvidence(
        tuple(each["harm"]),
        each["safe"],
        each["bad"],
        each["requests"],
        Tally(*each["champion"]),
        Tally(*each["candidate"]),
    )
