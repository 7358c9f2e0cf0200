"""Checks over a loaded environment. One rule is one function: its docstring says why, and where that is known from.

Every module of this package registers its own rules by being imported, so a new rule needs no list.
"""

import pkgutil
from importlib import import_module

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

from landbridge.rules.registry import RULES, Rule, after_rule, dated_rule, file_rule, rule  # noqa: E402
from landbridge.rules.run_rules import CheckReport, Suppressed, check, check_report  # noqa: E402  (after the rules it runs)

__all__ = [
    "RULES",
    "CheckReport",
    "Rule",
    "Suppressed",
    "after_rule",
    "check",
    "check_report",
    "dated_rule",
    "file_rule",
    "rule",
]
