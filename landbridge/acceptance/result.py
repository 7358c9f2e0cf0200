"""Results of the acceptance ladder as plain values. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from landbridge.plan.ansible.acceptance import Threshold

#: unjudged: it did not run, or a value has no threshold.
Status = Literal["passed", "failed", "unjudged"]
EXIT_CODES: Mapping[Status, int] = {"passed": 0, "failed": 1, "unjudged": 2}


@dataclass(frozen=True, slots=True)
class AcceptanceCheck:
    """Measured value with its threshold. `at_least` is None without a threshold; `passed` is None if it cannot be
    judged: its rung then has not passed, unless the value is `reported_only`.

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
    reported_only: bool = False

    @property
    def has_no_threshold(self) -> bool:
        """Return true for a measured value that should be judged, and that has no threshold."""
        return self.passed is None and bool(self.unit) and not self.reported_only

    @property
    def text(self) -> str:
        """Return the check as one line of text."""
        unit = f" {self.unit}" if self.unit else ""
        requirement = "" if self.at_least is None else f", at least {self.at_least:g}{unit} ({self.confidence})"
        if self.has_no_threshold:
            requirement = ", no threshold is known"
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
    def status(self) -> Status:
        """Return failed when a check failed; passed when every value was judged and passed; otherwise unjudged."""
        if any(check.passed is False for check in self.checks):
            return "failed"
        needed = [check for check in self.checks if not check.reported_only]
        return "passed" if needed and all(check.passed for check in needed) and not self.message else "unjudged"

    @property
    def stops(self) -> bool:
        """Return true if its nodes run no later rung: it failed or did not run. A value without a threshold stops nothing."""
        return self.status == "failed" or bool(self.message)

    @property
    def without_threshold(self) -> tuple[str, ...]:
        """Return the names of measured values that have no threshold, as a site's own thresholds name them."""
        names = (check.name.partition(", ")[0] for check in self.checks if check.has_no_threshold)
        return () if self.message else tuple(f"{self.rung}.{name}" for name in names)


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

    @property
    def without_threshold(self) -> tuple[str, ...]:
        """Return the names of all measured values without a threshold, each once."""
        return tuple(dict.fromkeys(name for outcome in self.outcomes for name in outcome.without_threshold))

    def json(self) -> dict[str, Any]:
        """Return the report as plain data: `ok`, `status` and `exit_code` first."""
        rungs = [outcome.json() for outcome in self.outcomes]
        head = {"ok": self.status == "passed", "status": self.status, "exit_code": EXIT_CODES[self.status]}
        missing = {"without_threshold": self.without_threshold}
        return {**head, "environment": self.environment, "nodes": self.nodes, **missing, "rungs": rungs}


def compare(name: str, measured: float, thresholds: Iterable[Threshold], unit: str = "") -> AcceptanceCheck:
    """Compare a value with its threshold; a value without a threshold is not judged."""
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
