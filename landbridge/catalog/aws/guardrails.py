"""Limits of budgets, and what the function that ends nodes runs on."""

from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class BudgetFacts(Facts):
    """Limits of AWS Budgets: alarms, addresses, regions, and the delay of its numbers."""

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
    """Facts of guardrails.yaml. `starts` are the actions that make an instance run."""

    source: str
    date: date
    budgets: BudgetFacts
    reaper: ReaperFacts
    starts: tuple[str, ...]


@cache
def guardrails() -> GuardrailFacts:
    """Read once."""
    return read("guardrails", GuardrailFacts)
