"""Limits of budgets, and what the function that ends nodes runs on."""

from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class BudgetFacts(Facts):
    """How many alarms a budget may have, how many addresses each, where there are budgets, and how late their numbers are."""

    notifications: int
    subscribers: int
    partitions: tuple[str, ...]
    lag_hours: tuple[int, int]


class ReaperFacts(Facts):
    """What the function runs on."""

    runtime: str
    architecture: str
    memory_mib: int
    timeout_seconds: int


class GuardrailFacts(Facts):
    """What guardrails.yaml holds. `starts` are the actions that make an instance run."""

    source: str
    date: date
    budgets: BudgetFacts
    reaper: ReaperFacts
    starts: tuple[str, ...]


@cache
def guardrails() -> GuardrailFacts:
    """Read once."""
    return read("guardrails", GuardrailFacts)
