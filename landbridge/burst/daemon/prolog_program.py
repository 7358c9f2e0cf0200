"""PrologSlurmctld that is connected to the daemon: its question, and its state until the answer."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.burst.reconcile.job_start import JobStart


@dataclass(slots=True)
class Program:
    """Connected program. `start` is set when its question is complete; `up_at`: when its nodes were first seen up."""

    connection: socket.socket
    asked_at: float
    received: bytes = b""
    start: JobStart | None = None
    nodes: tuple[str, ...] = ()
    reason: str | None = None
    refused_regions: Mapping[str, str] = field(default_factory=dict)
    is_unpaid: bool = False  # whether its account has a hard budget, and no pass has shown that it pays
    up_at: float | None = None
    is_held: bool = False  # because its nodes are apart

    @property
    def may_leave(self) -> bool:
        """Return whether Slurm may start the job without a further check."""
        return self.reason is None and not self.refused_regions
