"""One mistake: what is changed in the good environment, the rule that must see it, where, and a word of what it says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from landbridge.findings import DataPath


@dataclass(frozen=True)
class Row:
    """A mistake that `landbridge check` must find.

    `changes` are values put into `tests.unit.core.samples.GOOD` by path; `at` is the path the finding must have; `says`
    is part of its message or fix. `region` where the mistake needs another one; `beside` are keys next to the environment.
    `title` names the mistake in docs/reference/mistakes.md in a few words.
    """

    rule: str
    title: str
    changes: Mapping[DataPath, Any]
    at: DataPath
    says: str
    region: str = "us-east-1"
    beside: Mapping[str, Any] = field(default_factory=dict)
