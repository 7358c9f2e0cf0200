"""Checks over a loaded environment. One rule is one function: its docstring says why, and where that is known from."""

from landbridge.rules import addresses, capacity, hardware, link, people, queues, secrets  # noqa: F401  (register themselves)
from landbridge.rules.registry import RULES, check, rule

__all__ = ["RULES", "check", "rule"]
