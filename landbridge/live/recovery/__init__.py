"""Finding in AWS what somebody began to make and never heard of again: by its tags, its name, or what it belongs to."""

from landbridge.live.recovery.find import find
from landbridge.live.recovery.kinds import KINDS, REPEATABLE

__all__ = ["KINDS", "REPEATABLE", "find"]
