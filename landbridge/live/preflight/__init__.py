"""Checks that ask AWS before anything is built. One function a check; every file of this folder is imported."""

import os
from importlib import import_module

from landbridge.live.preflight.registry import CHECKS, Check
from landbridge.live.preflight.runner import Look, Report, policy, preflight

__all__ = ["CHECKS", "Check", "Look", "Report", "policy", "preflight"]

for _file in sorted(file for folder in __path__ for file in os.listdir(folder)):
    if _file.endswith(".py") and not _file.startswith("_"):
        import_module(f"{__name__}.{_file.removesuffix('.py')}")
