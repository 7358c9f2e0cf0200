"""History of a model's aliases: records in a hash chain, kept as tags of the registered model.

Each record has the digest of the one before, so that a record that was changed, removed or inserted shows. The chain has no
key: an account that may edit the model can write all of it again, and copies of the history elsewhere show that.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from landbridge.findings import Finding
from landbridge.models.aliases import CHAMPION, AliasMove
from landbridge.timestamps import iso, parse_iso
from landbridge.user_files import parse_user_json

RULE = "model-history"
TAG_PREFIX = "landbridge.alias."
_TAG = re.compile(re.escape(TAG_PREFIX) + r"(\d{6})")
#: Landbridge's choice: a reason is a sentence, and the tag's value may have 5,000 characters (MLflow, "Model Registry", 2026-11-26).
LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class AliasRecord:
    """Record of one move: number from 1, time, account, alias, versions before and after, reason, and the chain's digest."""

    number: int
    at: str
    account: str
    alias: str
    before: str
    after: str
    reason: str
    previous: str

    @property
    def tag(self) -> str:
        """Return the key of the record's tag."""
        return f"{TAG_PREFIX}{self.number:06d}"

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the record."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """Return the value of the record's tag."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def next_record(records: Sequence[AliasRecord], move: AliasMove, at: float, account: str, reason: str) -> AliasRecord:
    """Return the record of a move after the others."""
    previous = records[-1].digest if records else ""
    text = " ".join(reason.split())[:LONGEST_REASON]
    return AliasRecord(len(records) + 1, iso(at), account, move.alias, move.before, move.after, text, previous)


def read_history(tags: Mapping[str, str]) -> tuple[tuple[AliasRecord, ...], tuple[Finding, ...]]:
    """Return the records among the tags of a model, and what is wrong with their chain. Records after a fault are returned too."""
    numbered = sorted((int(match[1]), value) for key, value in tags.items() if (match := _TAG.fullmatch(key)))
    records, findings, previous = [], [], ""
    for position, (number, value) in enumerate(numbered, 1):
        try:
            data = parse_user_json(value.encode())
            record = AliasRecord(**data)
            wrong = [
                each.name
                for each in fields(record)
                if type(data[each.name]) is not (int if each.name == "number" else str)
            ]
        except (ValueError, TypeError) as error:
            findings.append(Finding(RULE, f"record {number} cannot be read: {type(error).__name__}"))
            previous = ""
            continue
        if wrong or parse_iso(record.at) is None:
            findings.append(Finding(RULE, f"record {number} has values of another type: {', '.join(wrong) or 'at'}"))
            continue
        if record.number != number or number != position:
            findings.append(Finding(RULE, f"record {position} is missing, or another record is at its position"))
        elif record.previous != previous:
            findings.append(
                Finding(RULE, f"record {number} does not follow record {number - 1}: one of them was changed")
            )
        records.append(record)
        previous = record.digest
    return tuple(records), tuple(findings)


def aliases_at(records: Sequence[AliasRecord], at: float | None = None) -> dict[str, str]:
    """Return the version of each alias at a time, by the records; without a time, the present ones."""
    versions: dict[str, str] = {}
    for record in records:
        moved = parse_iso(record.at)
        if at is None or (moved is not None and moved <= at):
            versions[record.alias] = record.after
    # A record without a version after it took the alias away.
    return {alias: version for alias, version in versions.items() if version}


def champions(records: Sequence[AliasRecord]) -> list[str]:
    """Return the versions that were champion, in order."""
    return [record.after for record in records if record.alias == CHAMPION]


def moved_elsewhere(records: Sequence[AliasRecord], aliases: Mapping[str, str]) -> list[Finding]:
    """Return a finding for each alias that is not where its last record says."""
    recorded = aliases_at(records)
    return [
        Finding(
            RULE,
            f"{alias} is at version {aliases.get(alias, 'none')}, and its last record has {recorded.get(alias, 'none')}: "
            "it was moved without a record",
            fix="move it with landbridge model promote or rollback",
        )
        for alias in sorted({*recorded, *aliases})
        if aliases.get(alias) != recorded.get(alias)
    ]
