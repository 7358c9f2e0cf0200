"""What must hold of every resource in AWS, as pure functions: for the CrossGuard pack, for tests, for whoever has a graph."""

from landbridge.policy.chosen import pack_config, settings_of
from landbridge.policy.judge import Violation, judge, judge_one
from landbridge.policy.registry import POLICIES, Level, Policy
from landbridge.policy.resource import Resource
from landbridge.policy.settings import PolicySettings

__all__ = [
    "POLICIES",
    "Level",
    "Policy",
    "PolicySettings",
    "Resource",
    "Violation",
    "judge",
    "judge_one",
    "pack_config",
    "settings_of",
]
