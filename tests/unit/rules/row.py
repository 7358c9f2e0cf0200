"""One mistake: what is changed in the good environment, the rule that must see it, where, and a word of what it says."""

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

    `changes` are values put into `tests.unit.core.samples.GOOD` by path; `at` is the path the finding must have; `says`
    is part of its message or fix. `region` where the mistake needs another one; `beside` are keys next to the environment,
    `environment` is its name. `title` names the mistake in docs/reference/mistakes.md in a few words. `today` where the
    mistake is one on that day only; `edit` is a piece of the file's text and what replaces it, for mistakes that are not in the data;
    `lock` is the image lock beside the file.
    """

    rule: str
    title: str
    changes: Mapping[DataPath, Any]
    at: DataPath
    says: str
    region: str = "us-east-1"
    beside: Mapping[str, Any] = field(default_factory=dict)
    today: date | None = None
    edit: tuple[str, str] | None = None
    environment: str = "test"
    lock: ImageLock | None = None

    def load(self) -> Loaded:
        """The good environment with this mistake in it."""
        found = loaded(
            self.changes, region=self.region, beside=self.beside, edit=self.edit, environment=self.environment
        )
        return found if self.lock is None else replace(found, lock=self.lock)

    def report(self) -> CheckReport:
        """Return the report of `landbridge check`."""
        return check_report(self.load(), self.today)


@dataclass(frozen=True)
class NotChecked:
    """A mistake that is not for `landbridge check`: one that `preflight` finds, or one that nobody can write.

    `example` is what somebody would write or have; `says` is the message, or why the file has no way to say it.
    """

    title: str
    where: Literal["preflight", "cannot be written"]
    example: str
    says: str
    rule: str | None = None
