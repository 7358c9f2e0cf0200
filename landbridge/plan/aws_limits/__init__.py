"""What AWS refuses, or nobody should ask of it, as functions of plain values: each is written here, once.

`landbridge check` asks them about the environment file, the CrossGuard pack about any program's resources, and the sandbox's
provider about what it is given; each puts the answer into its own words of place.
"""

from landbridge.plan.aws_limits.fault import Fault
from landbridge.plan.aws_limits.launch import block_faults, hop_faults
from landbridge.plan.aws_limits.ports import internet, port_faults, rule_faults
from landbridge.plan.aws_limits.tags import tag_faults
from landbridge.plan.aws_limits.volumes import volume_faults

__all__ = [
    "Fault",
    "block_faults",
    "hop_faults",
    "internet",
    "port_faults",
    "rule_faults",
    "tag_faults",
    "volume_faults",
]
