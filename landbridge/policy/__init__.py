"""Policies of AWS resources, as pure functions: for the CrossGuard pack and for tests."""

from landbridge.policy.environment_settings import pack_config, policy_settings
from landbridge.policy.registry import POLICIES, Level, Policy
from landbridge.policy.resource import Resource
from landbridge.policy.run_policies import Violation, resource_violations, violations
from landbridge.policy.settings import PolicySettings

__all__ = [
    "POLICIES",
    "Level",
    "Policy",
    "PolicySettings",
    "Resource",
    "Violation",
    "pack_config",
    "policy_settings",
    "resource_violations",
    "violations",
]
