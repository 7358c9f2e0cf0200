"""Faults of calls, scripted in advance and raised in order, and launches that EC2 accepts and ends. A crash is no
Exception, so that no handler catches it."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from landbridge.burst.model import InstanceEnd


@dataclass(frozen=True)
class LaunchEnd:
    """End of every `each`-th instance of an offering, `seconds` after EC2 has accepted its launch."""

    end: InstanceEnd
    seconds: float = 8.0
    each: int = 1


class Crash(BaseException):
    """Death of the daemon (kill -9) at this point."""


class Faults:
    """Script of faults. Every call of the store, of EC2 and of Slurm takes one word of it.

    `ok`; `crash-before` and `crash-after` the effect; `throttle` (EC2); `timeout-before` and `timeout-after` the effect
    (EC2: the answer is lost; Slurm: the command fails). A word that does not fit a call counts as `ok`.
    `ends`: launches that EC2 accepts and ends, by Offering.key.
    """

    def __init__(self) -> None:
        self.script: deque[str] = deque()
        self.ends: dict[str, LaunchEnd] = {}
        self.latency = 0.0
        self.met = 0  # faults raised so far; a pass without one is clean
        self.calls: list[str] = []
        self.passing: Callable[[float], None] = lambda seconds: None

    @contextmanager
    def call(self, name: str, kind: str, refuse: Callable[[str], Exception] | None = None) -> Iterator[None]:
        """Surround the effect of a call; `refuse` creates the exception that the caller gets if it fails."""
        self.calls.append(name)
        if self.latency and kind != "store":
            self.passing(self.latency)
        word = self.script.popleft() if self.script else "ok"
        if (word == "throttle" and kind != "ec2") or (word.startswith("timeout") and refuse is None):
            word = "ok"
        if word != "ok":
            self.met += 1
        if word == "crash-before":
            raise Crash(name)
        if refuse is not None and word in ("throttle", "timeout-before"):
            raise refuse(word)
        yield
        if word == "crash-after":
            raise Crash(name)
        if refuse is not None and word == "timeout-after":
            raise refuse(word)
