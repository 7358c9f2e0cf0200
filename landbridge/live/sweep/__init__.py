"""What an environment has left in AWS that nothing remembers: found by its tag, and removed on request."""

from landbridge.live.sweep.found import Leftover, Swept, look, together
from landbridge.live.sweep.remove import remove

__all__ = ["Leftover", "Swept", "look", "remove", "together"]
