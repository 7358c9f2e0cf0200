"""Health checks of a GPU node and the failure budget (health_checks.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class HealthLimit(Facts):
    """Limit of a check. `key`: its place in the node's expectations; `least` and `most`: valid values."""

    key: str
    least: float = Field(alias="from")
    most: float = Field(alias="to")
    unit: str


class FaultCheck(Facts):
    """Health check; `parts` is empty if it has no parts that can be added or skipped."""

    meaning: str = Field(alias="what")
    limit: HealthLimit | None = None
    parts: str = ""


class FailureBudget(Facts):
    """Largest share of the on-prem nodes in percent that health checks may drain at the same time."""

    percent: int
    source: str
    date: date


class FaultChecks(Facts):
    """Facts of health_checks.yaml."""

    source: str
    date: date
    budget: FailureBudget
    fabric_seconds: int
    checks: Mapping[str, FaultCheck]


@cache
def health_checks() -> FaultChecks:
    """Return the checks by name, and the default of the failure budget (cached)."""
    return read("health_checks", FaultChecks)
