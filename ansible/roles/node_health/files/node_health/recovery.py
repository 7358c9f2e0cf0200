"""Recovery actions that the driver requires, from nvidia-smi and from Xid 154.

Source: NVML API reference, nvmlDeviceGpuRecoveryAction_t; NVIDIA GPU memory error management, error recovery and
response flags.
"""

from __future__ import annotations

import re

from node_health import query
from node_health.problem import Problem
from node_health.query import Values

# 3, drain of peer-to-peer traffic: when the jobs have ended, the driver requires another action or none. 5: recovery of
# the IMEX domain. 6 and 7: reset of the PCIe bus, reboot of the system.
_BY_NUMBER = {0: "", 1: "reset", 2: "reboot", 3: "inspect", 4: "reset", 5: "inspect", 6: "reboot", 7: "reboot"}
_NUMBER = re.compile(r"\bto 0x([0-9a-f]+)", re.IGNORECASE)


def check(values: Values | None = None) -> tuple[list[Problem], bool]:
    """Return problems, and whether the driver has the state. It is cleared by the driver when the GPU is recovered."""
    _, rows = (values or Values()).get(query.RECOVERY)
    texts = [(row["index"], row["gpu_recovery_action"]) for row in rows]
    known = [(index, text) for index, text in texts if query.state(text) == "known"]
    actions = ((index, text, of_text(text)) for index, text in known)
    problems = [Problem("recovery", f"GPU {index} needs: {text}", action) for index, text, action in actions if action]
    return problems, bool(rows) and len(known) == len(rows)


def of_text(text: str) -> str:
    """Return the action for a name such as `Reset`, `OS Reboot` or `Drain and Reset`; empty for `None`.

    Names differ between releases of the driver. An unknown one is inspected.
    """
    words = text.strip().lower()
    if words == "none":
        return ""
    for part, action in (
        ("p2p", "inspect"),
        ("reboot", "reboot"),
        ("bus", "reboot"),
        ("reset", "reset"),
        ("flr", "reset"),
    ):
        if part in words and not (part == "p2p" and "reset" in words):
            return action
    return "inspect"


def of_xid(text: str) -> str:
    """Return the action of the text of Xid 154: "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset
    Required)".

    The number decides: its name differs between releases (Node Reboot Required, OS Reboot).
    """
    number = _NUMBER.search(text)
    if number is not None and int(number.group(1), 16) in _BY_NUMBER:
        return _BY_NUMBER[int(number.group(1), 16)]
    return of_text(text.rpartition("(")[2].rstrip(") "))
