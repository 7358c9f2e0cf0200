"""Reader of recorded kernel logs: GPUs and fault observations. Pure.

Forms: `dmesg`, `dmesg -T`, `dmesg --time-format iso`, `journalctl -k -o short-iso`, and /dev/kmsg.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from landbridge import timestamps
from landbridge.catalog.hardware.xids import xids
from landbridge.ops.gpu_health.values import HealthObservation

# Of a MIG instance, words such as GPU-I:05 and GPU-CI:00 follow the address (open-gpu-kernel-modules, kernel_rc.c).
_XID = re.compile(r"NVRM: Xid \(PCI:([0-9A-Fa-f:.]+)[^)]*\): (\d+)(?:, *(.*))?$")
_SXID = re.compile(r"nvidia-nvswitch\d+: SXid \(PCI:([0-9A-Fa-f:.]+)[^)]*\): (\d+), Fatal")
_RESET = re.compile(r"NVRM: (?:(GPU\d+) )?.*\[(NV_ERR_RESET_REQUIRED)\]")
_FAILED = re.compile(r"NVRM: GPU ([0-9A-Fa-f]{4}:[0-9A-Fa-f:.]+): RmInitAdapter failed")
_UUID = re.compile(r"NVRM: GPU at PCI:([0-9A-Fa-f:.]+): (GPU-[0-9a-f-]+)")
_SERIAL = re.compile(r"NVRM: GPU Board Serial Number: (\S+)")
_KMSG = re.compile(r"^\d+,\d+,(\d+),[^;]*;(.*)$")
_BRACKETS = re.compile(r"^(?:<\d+>)?\[ *([^\]]+)\] ?(.*)$")
_ISO = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[+-]\d\d:?\d\d|Z)?) (.*)$")
#: Required actions by the number in Xid 154; source: NVML API reference, nvmlDeviceGpuRecoveryAction_t.
_RECOVERY = re.compile(r"\bto 0x([0-9a-f]+)", re.IGNORECASE)
_BY_NUMBER = {0: "", 1: "reset", 2: "reboot", 3: "inspect", 4: "reset", 5: "inspect", 6: "reboot", 7: "reboot"}
_ANNOUNCED = 154


@dataclass(frozen=True, slots=True)
class KernelLog:
    """Observations of a log in its order, and the UUIDs and serial numbers of GPUs by their PCI address."""

    observations: tuple[HealthObservation, ...]
    uuids: Mapping[str, str]
    serials: Mapping[str, str]
    ignored_lines: int = 0


def read_log(text: str, node: str, boot: float = 0.0, uuids: Mapping[str, str] | None = None) -> KernelLog:
    """Return the observations of a kernel log. `boot`: start of the kernel, for times since boot; `uuids`: by address.

    Xids of applications are not observations: they have no action for the node.
    """
    lines = [line for line in text.splitlines() if "NVRM: " in line or "SXid" in line]
    parsed = [moment for line in lines if (moment := _moment(line, boot)) is not None]
    known, serials = dict(uuids or {}), {}
    address = ""
    for _, message in parsed:
        if match := _UUID.search(message):
            address = short(match.group(1))
            known[address] = match.group(2)
        elif (match := _SERIAL.search(message)) and address:
            serials[address] = match.group(1)
    observations = [entry for at, message in parsed for entry in _observations(at, message, node, known)]
    return KernelLog(tuple(observations), known, serials, len(lines) - len(parsed))


def short(address: str) -> str:
    """Return a PCI address as the driver's Xids have it: `0000:1b:00` for `00000000:1B:00.0`."""
    domain, _, rest = address.lower().partition(":")
    return f"{domain[-4:]}:{rest.partition('.')[0]}"


def _observations(at: float, message: str, node: str, uuids: Mapping[str, str]) -> Iterator[HealthObservation]:
    if match := _XID.search(message):
        address, number, text = short(match.group(1)), int(match.group(2)), match.group(3) or ""
        gpu = uuids.get(address, address)
        if number == _ANNOUNCED:
            yield HealthObservation(at, node, "xid", f"{number} at {address}", gpu, recovery_action(text), event=True)
        elif (xid := xids().get(number)) is not None and xid.drains:
            yield HealthObservation(at, node, "xid", f"{number} at {address}", gpu, xid.action, event=True)
    elif match := _SXID.search(message):
        address = short(match.group(1))
        yield HealthObservation(at, node, "sxid", f"{match.group(2)} at {address}", "", "reset", event=True)
    elif match := _RESET.search(message):
        detail = f"{match.group(2)} at {match.group(1) or 'one GPU'}"
        yield HealthObservation(at, node, "recovery", detail, "", "reset", event=True)
    elif match := _FAILED.search(message):
        address = short(match.group(1))
        yield HealthObservation(
            at,
            node,
            "gpu",
            f"the driver cannot start the GPU at {address}",
            uuids.get(address, address),
            "reboot",
            True,
        )


def recovery_action(text: str) -> str:
    """Return the action of the text of Xid 154; empty if the driver requires none."""
    number = _RECOVERY.search(text)
    return _BY_NUMBER.get(int(number.group(1), 16), "inspect") if number is not None else "inspect"


def _moment(line: str, boot: float) -> tuple[float, str] | None:
    """Return time and message of a line; None if its form is not known."""
    if match := _KMSG.match(line):
        return boot + int(match.group(1)) / 1e6, match.group(2)
    if match := _ISO.match(line):
        at = timestamps.parse_iso(match.group(1).replace(",", "."))
        return None if at is None else (at, match.group(2))
    if match := _BRACKETS.match(line):
        text, message = match.groups()
        try:
            return boot + float(text), message
        except ValueError:
            pass
        try:
            return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp(), message
        except ValueError:
            return None
    return None
