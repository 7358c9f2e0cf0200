"""AWS limits and unsafe settings as functions of plain values, each defined once.

`landbridge check` applies them to the environment file, the CrossGuard pack to any program's resources, and the
sandbox's provider to its inputs; each of them reports the violation's place in its own form.
"""

from landbridge.plan.aws_limits.launch import capacity_block_violations, imds_hop_limit_violations
from landbridge.plan.aws_limits.security_group_rules import is_internet, port_range_violations, rule_count_violations
from landbridge.plan.aws_limits.tags import metadata_tag_violations, tag_violations
from landbridge.plan.aws_limits.violation import LimitViolation
from landbridge.plan.aws_limits.volumes import volume_violations

__all__ = [
    "LimitViolation",
    "capacity_block_violations",
    "imds_hop_limit_violations",
    "is_internet",
    "metadata_tag_violations",
    "port_range_violations",
    "rule_count_violations",
    "tag_violations",
    "volume_violations",
]
