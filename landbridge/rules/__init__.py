"""Checks of a loaded environment. One rule is one function; its docstring has the requirement, the reason and the
source.

The import of a module of this package registers its rules, so a new rule needs no list.
"""

import pkgutil
from importlib import import_module

#: Modules for `landbridge explain` alone, without rules.
_EXPLAIN = {f"{__name__}.explanation", f"{__name__}.form_findings"}

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    if _module.name not in _EXPLAIN:
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
