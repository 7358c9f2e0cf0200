"""Resources with an environment's tag that no stack's state has: search and deletion."""

from landbridge.live.sweep.leftovers import RUNNING, Leftover, Leftovers, find_leftovers, merge
from landbridge.live.sweep.remove import remove
from landbridge.live.sweep.running import describe, wait_for_end

__all__ = ["RUNNING", "Leftover", "Leftovers", "describe", "find_leftovers", "merge", "remove", "wait_for_end"]
