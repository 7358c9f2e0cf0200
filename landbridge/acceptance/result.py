"""What a ladder comes to, as plain values that programs read. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from landbridge.plan.ansible.acceptance import Threshold

#: unjudged: it did not run, or nobody knows what it has to reach.
Status = Literal["passed", "failed", "unjudged"]
EXIT_CODES: Mapping[Status, int] = {"passed": 0, "failed": 1, "unjudged": 2}


@dataclass(frozen=True, slots=True)
class AcceptanceCheck:
    """One value. `at_least` is None where nothing is asked; `passed` is None where it cannot be said.

    `confidence`: known (the machine's data sheet), measured (somebody runs a fleet by it), derived (a share of a bound), given.
    """

    what: str
    measured: float | str | None
    passed: bool | None
    at_least: float | None = None
    unit: str = ""
    source: str = ""
    confidence: str = ""

    @property
    def text(self) -> str:
        """The check in one line."""
        unit = f" {self.unit}" if self.unit else ""
        wanted = "" if self.at_least is None else f", at least {self.at_least:g}{unit} ({self.confidence})"
        measured = f"{self.measured:g}" if isinstance(self.measured, float) else str(self.measured)
        return f"{self.what}: {measured}{unit}{wanted}"


@dataclass(frozen=True, slots=True)
class AcceptanceOutcome:
    """One rung on some nodes. `message` says why it could not be judged; `seconds` how long it ran."""

    rung: str
    nodes: tuple[str, ...]
    checks: tuple[AcceptanceCheck, ...] = ()
    message: str = ""
    seconds: float = 0.0

    @property
    def status(self) -> Status:
        """failed when a check failed; passed when some were judged and all of those passed."""
        if any(check.passed is False for check in self.checks):
            return "failed"
        judged = any(check.passed for check in self.checks)
        return "passed" if judged and not self.message else "unjudged"


@dataclass(frozen=True, slots=True)
class AcceptanceReport:
    """The whole ladder."""

    environment: str
    nodes: tuple[str, ...]
    outcomes: tuple[AcceptanceOutcome, ...] = field(default=())

    @property
    def status(self) -> Status:
        """failed before unjudged before passed; a ladder without a rung is unjudged."""
        found = {outcome.status for outcome in self.outcomes}
        return "failed" if "failed" in found else "unjudged" if "unjudged" in found or not found else "passed"

    def json(self) -> dict[str, Any]:
        """For programs: `ok`, `status` and `exit_code` first."""
        rungs = [{"status": one.status, **asdict(one)} for one in self.outcomes]
        head = {"ok": self.status == "passed", "status": self.status, "exit_code": EXIT_CODES[self.status]}
        return {**head, "environment": self.environment, "nodes": self.nodes, "rungs": rungs}


def compare(what: str, measured: float, thresholds: Iterable[Threshold], unit: str = "") -> AcceptanceCheck:
    """Hold a value against its threshold; without one it is only told."""
    found = next((one for one in thresholds if one.what == what), None)
    if found is None:
        return AcceptanceCheck(what, measured, None, unit=unit)
    return AcceptanceCheck(
        what, measured, measured >= found.at_least, found.at_least, found.unit, found.source, found.confidence
    )
