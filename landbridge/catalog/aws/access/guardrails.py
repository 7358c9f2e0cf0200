"""Limits of AWS Budgets, and runtime of the lease reaper (guardrails.yaml)."""

from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class BudgetFacts(Facts):
    """Limits of AWS Budgets: alarms, addresses, regions, and the delay of its cost data."""

    notifications: int
    subscribers: int
    partitions: tuple[str, ...]
    lag_hours: tuple[int, int]


class ReaperFacts(Facts):
    """Lambda runtime of the lease reaper."""

    runtime: str
    architecture: str
    memory_mib: int
    timeout_seconds: int


class GuardrailFacts(Facts):
    """Facts of guardrails.yaml. `starts` are the API actions that start instances."""

    source: str
    date: date
    budgets: BudgetFacts
    reaper: ReaperFacts
    starts: tuple[str, ...]


@cache
def guardrails() -> GuardrailFacts:
    """Return the facts of guardrails (cached)."""
    return read("guardrails", GuardrailFacts)
