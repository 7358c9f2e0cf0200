"""Mistakes as data: a change of the good environment, the rule that must report it, the path, and part of the text."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

from landbridge.environment import Loaded
from landbridge.environment.file.lock import ImageLock
from landbridge.findings import DataPath
from landbridge.rules import CheckReport, check_report
from tests.unit.core.samples import loaded


@dataclass(frozen=True)
class Row:
    """A mistake that `landbridge check` must find.

    `changes` are values put into `tests.unit.core.samples.GOOD` by path; `path` is the path the finding must have;
    `text` is part of its message or fix. `region` is given if the mistake needs another one; `beside` are keys next to
    the environment, `environment` is its name. `title` names the mistake in docs/reference/mistakes.md in a few words.
    `today` is given if it is a mistake on that day only; `edit` is a piece of the file's text and its replacement, for
    mistakes that are not in the data; `lock` is the image lock beside the file.
    """

    rule: str
    title: str
    changes: Mapping[DataPath, Any]
    path: DataPath
    text: str
    region: str = "us-east-1"
    beside: Mapping[str, Any] = field(default_factory=dict)
    today: date | None = None
    edit: tuple[str, str] | None = None
    environment: str = "test"
    lock: ImageLock | None = None

    def load(self) -> Loaded:
        """Return the good environment with this mistake in it."""
        result = loaded(
            self.changes, region=self.region, beside=self.beside, edit=self.edit, environment=self.environment
        )
        return result if self.lock is None else replace(result, lock=self.lock)

    def report(self) -> CheckReport:
        """Return the report of `landbridge check`."""
        return check_report(self.load(), self.today)


@dataclass(frozen=True)
class NotChecked:
    """A mistake that `landbridge check` does not report: `preflight` finds it, or the file has no key for it.

    `example` is what a user would write or have; `text` is the message, or the reason why it cannot be written.
    """

    title: str
    where: Literal["preflight", "cannot be written"]
    example: str
    text: str
    rule: str | None = None
