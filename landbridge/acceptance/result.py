"""Results of the acceptance ladder as plain values. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from landbridge.plan.ansible.acceptance import Threshold

#: unjudged: it did not run, or no threshold is known.
Status = Literal["passed", "failed", "unjudged"]
EXIT_CODES: Mapping[Status, int] = {"passed": 0, "failed": 1, "unjudged": 2}


@dataclass(frozen=True, slots=True)
class AcceptanceCheck:
    """Measured value with its threshold. `at_least` is None without a threshold; `passed` is None if it cannot be
    judged.

    `confidence` of the threshold: known (the platform's data sheet), measured (a published fleet uses the value),
    derived (a share of a bound), given (the site's own).
    """

    name: str
    measured: float | str | None
    passed: bool | None
    at_least: float | None = None
    unit: str = ""
    source: str = ""
    confidence: str = ""

    @property
    def text(self) -> str:
        """Return the check as one line of text."""
        unit = f" {self.unit}" if self.unit else ""
        requirement = "" if self.at_least is None else f", at least {self.at_least:g}{unit} ({self.confidence})"
        measured = f"{self.measured:g}" if isinstance(self.measured, float) else str(self.measured)
        return f"{self.name}: {measured}{unit}{requirement}"


@dataclass(frozen=True, slots=True)
class AcceptanceOutcome:
    """Result of one rung on some nodes. `message` is the reason when it could not be judged; `seconds` its run time."""

    rung: str
    nodes: tuple[str, ...]
    checks: tuple[AcceptanceCheck, ...] = ()
    message: str = ""
    seconds: float = 0.0

    def json(self) -> dict[str, Any]:
        """Return the outcome as plain data; the name of a check has the key `what`."""
        checks = tuple(
            {"what" if key == "name" else key: value for key, value in asdict(check).items()} for check in self.checks
        )
        return {"status": self.status, **asdict(self), "checks": checks}

    @property
    def climbs(self) -> bool:
        """Return whether its nodes run the next rung: it passed, or it ran without a fault but has no threshold."""
        return self.status == "passed" or (self.status == "unjudged" and any(check.passed for check in self.checks))

    @property
    def status(self) -> Status:
        """Return failed when a check failed; passed when some were judged and all of those passed; otherwise unjudged."""
        if any(check.passed is False for check in self.checks):
            return "failed"
        judged = any(check.passed for check in self.checks)
        return "passed" if judged and not self.message else "unjudged"


@dataclass(frozen=True, slots=True)
class AcceptanceReport:
    """Outcomes of all rungs."""

    environment: str
    nodes: tuple[str, ...]
    outcomes: tuple[AcceptanceOutcome, ...] = field(default=())

    @property
    def status(self) -> Status:
        """Return the worst status: failed before unjudged before passed; a ladder without a rung is unjudged."""
        statuses = {outcome.status for outcome in self.outcomes}
        return "failed" if "failed" in statuses else "unjudged" if "unjudged" in statuses or not statuses else "passed"

    def json(self) -> dict[str, Any]:
        """Return the report as plain data: `ok`, `status` and `exit_code` first."""
        rungs = [outcome.json() for outcome in self.outcomes]
        head = {"ok": self.status == "passed", "status": self.status, "exit_code": EXIT_CODES[self.status]}
        return {**head, "environment": self.environment, "nodes": self.nodes, "rungs": rungs}


def without_threshold(checks: Iterable[AcceptanceCheck]) -> bool:
    """Return whether there are measured rates, and none of them has a threshold."""
    rates = [check for check in checks if check.unit == "GB/s"]
    return bool(rates) and all(check.at_least is None for check in rates)


def compare(name: str, measured: float, thresholds: Iterable[Threshold], unit: str = "") -> AcceptanceCheck:
    """Compare a value with its threshold; a value without a threshold is reported only."""
    threshold = next((threshold for threshold in thresholds if threshold.measurement == name), None)
    if threshold is None:
        return AcceptanceCheck(name, measured, None, unit=unit)
    return AcceptanceCheck(
        name,
        measured,
        measured >= threshold.at_least,
        threshold.at_least,
        threshold.unit,
        threshold.source,
        threshold.confidence,
    )
