"""Status of EC2 instances: failed status checks and scheduled events (DescribeInstanceStatus)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """Status of an instance that has a failed status check or a scheduled event; other instances have none.

    `impaired`: the failed checks, `system`, `instance` or `attached EBS`. `event`: code of the next scheduled event; `event_at`: its
    NotBefore, the earliest time at which EC2 may begin it (None: EC2 reports no time).
    """

    impaired: tuple[str, ...] = ()
    event: str = ""
    event_at: float | None = None
    event_id: str = ""


@dataclass(frozen=True, slots=True)
class StatusRead:
    """Read of the statuses in one region: the next one is due at `until`. `read_at`: time of the last that succeeded;
    `code` and `message`: the error of the last one, if it failed."""

    until: float
    read_at: float | None = None
    code: str = ""
    message: str = ""
