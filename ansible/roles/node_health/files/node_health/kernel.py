"""Driver errors in the kernel log since boot, and their acknowledgement by an operator."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from node_health import facts, recovery
from node_health.problem import Problem, read, write

LOG = Path("/dev/kmsg")
# A record of /dev/kmsg: "priority,sequence,microseconds,flags;text" (Documentation/ABI/testing/dev-kmsg).
_RECORD = re.compile(r"^\d+,(\d+),(\d+),[^;]*;(.*)$")
# Of a MIG instance, words such as GPU-I:05 and GPU-CI:00 follow the address (open-gpu-kernel-modules, kernel_rc.c).
_XID = re.compile(r"NVRM: Xid \(PCI:([0-9A-Fa-f:.]+)[^)]*\): (\d+)(?:, *(.*))?$")
# Fatal error of an NVSwitch; others need no action (Fabric Manager user guide, appendix on SXid errors).
_SXID = re.compile(r"nvidia-nvswitch\d+: SXid \(PCI:([0-9A-Fa-f:.]+)[^)]*\): (\d+), Fatal")
# The driver refuses work for a GPU after a fatal error of its firmware, also without an Xid. On some lines it names the GPU, by
# its own number. Source: open-gpu-kernel-modules, NV_ERR_RESET_REQUIRED.
_RESET = re.compile(r"NVRM: (?:(GPU\d+) )?.*\[(NV_ERR_RESET_REQUIRED)\]")
#: The driver's required action changed, also back to none.
RECOVERY = 154


def check(actions: Mapping[str, str], memory: Path, log: Path = LOG) -> list[Problem]:
    """Return the errors since boot that are not acknowledged.

    `memory`: a file that does not survive a reboot. It keeps errors whose lines the kernel log has already overwritten.
    """
    saved = read(memory) or {}
    events: dict[str, list[object]] = dict(saved.get("events", {}))
    acknowledged, last = int(saved.get("acknowledged", -1)), int(saved.get("last", -1))
    boot = facts.booted_at() or 0.0
    for sequence, seconds, text in records(log):
        last = max(last, sequence)
        error = event(text, actions)
        if error is not None and sequence > acknowledged:
            check_name, number, address, action = error
            name = f"{check_name} {number} {address}"
            if action:
                events[name] = [sequence, action, boot + seconds]
            else:
                # The driver has withdrawn the action.
                events.pop(name, None)
    events = {name: entry for name, entry in events.items() if int(str(entry[0])) > acknowledged}
    write(memory, {"events": events, "acknowledged": acknowledged, "last": last})
    problems = []
    for name, (_, action, *times) in sorted(events.items()):
        check_name, number, address = name.split(" ", 2)
        # A file of an earlier release has no times.
        at = float(str(times[0])) if times else None
        problems.append(Problem(check_name, f"{number} at {address}", str(action), event=True, at=at))
    return problems


def acknowledge(memory: Path) -> None:
    """Acknowledge all errors in the log, after an operator resumed the node."""
    saved = read(memory) or {}
    last = int(saved.get("last", -1))
    write(memory, {"events": {}, "acknowledged": last, "last": last})


def event(text: str, actions: Mapping[str, str]) -> tuple[str, str, str, str] | None:
    """Return (check, number, PCI address, action) for a line that drains the node; None for any other line.

    The action is empty if the driver withdraws an earlier one.
    """
    match = _XID.search(text)
    if match is not None:
        address, number, text_after_number = match.group(1).lower(), match.group(2), match.group(3) or ""
        if int(number) == RECOVERY:
            return ("xid", number, address, recovery.of_xid(text_after_number))
        action = actions.get(number, "")
        return ("xid", number, address, action) if action else None
    match = _RESET.search(text)
    if match is not None:
        return ("recovery", match.group(2), match.group(1) or "one GPU", "reset")
    match = _SXID.search(text)
    return ("sxid", match.group(2), match.group(1).lower(), "reset") if match is not None else None


def records(log: Path) -> Iterator[tuple[int, float, str]]:
    """Yield the sequence number, seconds since boot and text of every line in the log; none if it cannot be read."""
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
                # A record was overwritten during the read: the next read returns a later one.
                continue
            except OSError:
                break
            if not part:
                break
            parts.append(part)
    finally:
        os.close(handle)
    for line in b"".join(parts).decode(errors="replace").splitlines():
        record = _RECORD.match(line)
        if record is not None:
            yield int(record.group(1)), int(record.group(2)) / 1e6, record.group(3)
