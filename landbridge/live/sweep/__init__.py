"""Resources with an environment's tag that no stack's state has: search and deletion."""

from landbridge.live.sweep.leftovers import Leftover, Leftovers, find_leftovers, merge
from landbridge.live.sweep.remove import remove

__all__ = ["Leftover", "Leftovers", "find_leftovers", "merge", "remove"]
