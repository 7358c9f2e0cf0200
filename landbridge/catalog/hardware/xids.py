"""Actions for errors of the NVIDIA driver (Xid) (xids.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

Action = Literal["application", "reset", "reboot", "repair", "driver"]
#: Actions that require a drain of the node, most severe first.
DRAINING: tuple[Action, ...] = ("repair", "reboot", "reset")


class Xid(Facts):
    """NVIDIA Xid; `action` is the immediate action of NVIDIA's catalogue."""

    action: Action
    description: str = Field(alias="what")

    @property
    def drains(self) -> bool:
        """Return true if no further job may start on the node before an operator has acted."""
        return self.action in DRAINING


class _Xids(Facts):
    source: str
    date: date
    xids: Mapping[int, Xid]


@cache
def xids() -> Mapping[int, Xid]:
    """Return the errors by number (cached). An error without an entry requires no action."""
    return read("xids", _Xids).xids
