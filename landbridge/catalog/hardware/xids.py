"""Actions for the NVIDIA driver's errors (Xid) (xids.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from landbridge.catalog.files import Facts, read

Action = Literal["application", "reset", "reboot", "repair", "driver"]
#: The actions that take a node out of service, the gravest first.
DRAINING: tuple[Action, ...] = ("repair", "reboot", "reset")


class Xid(Facts):
    """NVIDIA Xid; `action` is the immediate action of NVIDIA's catalogue."""

    action: Action
    what: str

    @property
    def drains(self) -> bool:
        """Return true when no further job may start on the machine before an operator has acted."""
        return self.action in DRAINING


class _Xids(Facts):
    source: str
    date: date
    xids: Mapping[int, Xid]


@cache
def xids() -> Mapping[int, Xid]:
    """Errors by number. One that is absent changes nothing."""
    return read("xids", _Xids).xids
