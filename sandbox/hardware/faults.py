"""Hardware faults of a lab node: inject and repair them, for tests and drills."""

import json
import shlex
from typing import Any

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes

FILE = "/var/lib/lab/faults.json"
LOG = "/dev/kmsg"


def inject(lab: Layout, node: str, **faults: Any) -> None:
    """Set the node's faults (names: programs/lab_hardware.py), replacing earlier ones; without any it is healthy."""
    text = shlex.quote(json.dumps(faults))
    _run(lab, node, f"mkdir -p /var/lib/lab && printf %s {text} > {FILE}")


def log(lab: Layout, node: str, text: str) -> None:
    """Add a line to the node's kernel log, as a record of /dev/kmsg."""
    sequence = f"$(wc -l < {LOG})"
    _run(
        lab, node, f'printf "4,%d,%d,-;%s\\n" {sequence} $(cut -d. -f1 /proc/uptime)000000 {shlex.quote(text)} >> {LOG}'
    )


def xid(lab: Layout, node: str, number: int, gpu: int = 0, text: str = "pid='<unknown>', name=<unknown>") -> None:
    """Add a driver error (Xid) of a GPU to the node's kernel log."""
    bus = json.loads(_run(lab, node, "cat /usr/local/lib/lab/hardware/machine.json"))["gpus"][gpu]["bus"]
    log(lab, node, f"NVRM: Xid (PCI:{bus[4:14].lower()}): {number}, {text}")


def _run(lab: Layout, node: str, command: str) -> str:
    completed = nodes.exec(lab, node, [command])
    if completed.returncode != 0:
        raise LabError(f"{node}: {command}: {completed.stderr}{completed.stdout}")
    return completed.stdout
