"""Preflight checks: queries of AWS before anything is built. One function per check; every file of this folder is
imported.
"""

import os
from importlib import import_module

from landbridge.live.preflight.registry import CHECKS, PreflightCheck
from landbridge.live.preflight.runner import PreflightReport, RunningCheck, policy, preflight

__all__ = ["CHECKS", "PreflightCheck", "PreflightReport", "RunningCheck", "policy", "preflight"]

for _file in sorted(file for folder in __path__ for file in os.listdir(folder)):
    if _file.endswith(".py") and not _file.startswith("_"):
        import_module(f"{__name__}.{_file.removesuffix('.py')}")
