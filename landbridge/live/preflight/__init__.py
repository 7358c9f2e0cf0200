"""Preflight checks: queries of AWS before anything is built. One function per check; every file of this folder
and of its folders is imported.
"""

from importlib import import_module
from pkgutil import walk_packages

from landbridge.live.preflight.registry import CHECKS, PreflightCheck
from landbridge.live.preflight.runner import PreflightReport, RunningCheck, policy, preflight

__all__ = ["CHECKS", "PreflightCheck", "PreflightReport", "RunningCheck", "policy", "preflight"]

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
