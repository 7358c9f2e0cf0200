"""Driver errors in the kernel log since boot, and their acknowledgement by an operator."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from node_health.problem import Problem, read, write

LOG = Path("/dev/kmsg")
# A record of /dev/kmsg: "priority,sequence,microseconds,flags;text" (Documentation/ABI/testing/dev-kmsg).
_RECORD = re.compile(r"^\d+,(\d+),\d+,[^;]*;(.*)$")
_XID = re.compile(r"NVRM: Xid \(PCI:([0-9A-Fa-f:.]+)\): (\d+)(?:, *(.*))?$")
# A switch's error; those that are not fatal need nothing (Fabric Manager user guide, appendix on SXid errors).
_SXID = re.compile(r"nvidia-nvswitch\d+: SXid \(PCI:([0-9A-Fa-f:.]+)\): (\d+), Fatal")
_RECOVERY = 154


def check(actions: Mapping[str, str], memory: Path, log: Path = LOG) -> list[Problem]:
    """Return the errors since boot that are not acknowledged.

    `memory` is a file that does not outlive a restart: the log forgets its oldest lines, and the machine must not.
    """
    kept = read(memory) or {}
    events: dict[str, list[object]] = dict(kept.get("events", {}))
    acknowledged, last = int(kept.get("acknowledged", -1)), int(kept.get("last", -1))
    for sequence, text in records(log):
        last = max(last, sequence)
        found = event(text, actions)
        if found is not None and sequence > acknowledged:
            check_name, number, where, action = found
            events[f"{check_name} {number} {where}"] = [sequence, action]
    events = {name: one for name, one in events.items() if int(str(one[0])) > acknowledged}
    write(memory, {"events": events, "acknowledged": acknowledged, "last": last})
    problems = []
    for name, (_, action) in sorted(events.items()):
        check_name, number, where = name.split(" ")
        problems.append(Problem(check_name, f"{number} at {where}", str(action), event=True))
    return problems


def acknowledge(memory: Path) -> None:
    """Acknowledge all errors in the log, after an operator resumed the node."""
    kept = read(memory) or {}
    last = int(kept.get("last", -1))
    write(memory, {"events": {}, "acknowledged": last, "last": last})


def event(text: str, actions: Mapping[str, str]) -> tuple[str, str, str, str] | None:
    """(check, number, PCI address, action) of a line that takes the node out of service; None for any other."""
    found = _XID.search(text)
    if found is not None:
        where, number, rest = found.group(1).lower(), found.group(2), found.group(3) or ""
        if int(number) == _RECOVERY:
            # The driver's own verdict: "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)".
            verdict = rest.rpartition(" to ")[2].lower()
            action = next((word for word in ("reboot", "reset") if word in verdict), "")
            return ("xid", number, where, action) if action else None
        action = actions.get(number, "")
        return ("xid", number, where, action) if action else None
    found = _SXID.search(text)
    return ("sxid", found.group(2), found.group(1).lower(), "reset") if found is not None else None


def records(log: Path) -> Iterator[tuple[int, str]]:
    """Sequence number and text of every line that is still in the log. Nothing where there is none to read."""
    try:
        handle = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    parts = []
    try:
        while True:
            try:
                part = os.read(handle, 8192)
            except BlockingIOError:
                break
            except BrokenPipeError:
                # A record was overwritten while we read: the next read goes on behind it.
                continue
            except OSError:
                break
            if not part:
                break
            parts.append(part)
    finally:
        os.close(handle)
    for line in b"".join(parts).decode(errors="replace").splitlines():
        found = _RECORD.match(line)
        if found is not None:
            yield int(found.group(1)), found.group(2)
