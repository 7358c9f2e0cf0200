"""Results of a check of the link: passed, a fault with its cause, or not judged. A fact that is missing never passes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from landbridge.catalog.link import link_facts

LinkStatus = Literal["passed", "failed", "warning", "not judged"]
#: Exit status of the command, by status of the report.
EXIT_STATUS: dict[str, int] = {"passed": 0, "warning": 0, "failed": 1, "not judged": 2}


@dataclass(frozen=True, slots=True)
class LinkResult:
    """Result of one check of a host. `cause` is a key of catalog/link.yaml, for a fault only."""

    check: str
    host: str
    subject: str
    status: LinkStatus
    message: str
    cause: str = ""
    fix: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return plain data, for `--format json`."""
        return {
            "check": self.check,
            "host": self.host,
            "subject": self.subject,
            "status": self.status,
            "message": self.message,
            "cause": self.cause,
            "fix": self.fix,
        }


@dataclass(frozen=True, slots=True)
class LinkReport:
    """Results of a run; `not_asked`: sentences about parts of the link that this run does not cover."""

    environment: str
    results: tuple[LinkResult, ...]
    not_asked: tuple[str, ...] = ()

    @property
    def status(self) -> LinkStatus:
        """Return the worst status: failed, then not judged, then warning."""
        present = {result.status for result in self.results}
        order: tuple[LinkStatus, ...] = ("failed", "not judged", "warning")
        return next((status for status in order if status in present), "passed" if self.results else "not judged")

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the causes of the faults, each once, in the order of the results."""
        return tuple(dict.fromkeys(result.cause for result in self.results if result.cause))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "environment": self.environment,
            "status": self.status,
            "causes": list(self.causes),
            "results": [result.to_dict() for result in self.results],
            "not_asked": list(self.not_asked),
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """Check of one subject on one host; its methods return the results."""

    check: str
    host: str
    subject: str

    def passed(self, message: str) -> LinkResult:
        """Return a passed check."""
        return LinkResult(self.check, self.host, self.subject, "passed", message)

    def fault(self, cause: str, message: str) -> LinkResult:
        """Return a fault with the severity and the fix of its cause in the catalogue."""
        facts = link_facts().causes[cause]
        status: LinkStatus = "failed" if facts.severity == "error" else "warning"
        return LinkResult(self.check, self.host, self.subject, status, message, cause, facts.fix)

    def unjudged(self, reason: str) -> LinkResult:
        """Return a check without the fact that it needs."""
        return LinkResult(self.check, self.host, self.subject, "not judged", reason)


def faults(results: Iterable[LinkResult]) -> tuple[LinkResult, ...]:
    """Return the faults among results."""
    return tuple(result for result in results if result.cause)
