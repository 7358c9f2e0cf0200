"""Cluster nodes from Slurm, and the actions that their drain reasons require. Pure.

The reasons are those of the role node_health: `landbridge:<check>:<detail>; do: <action>`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from landbridge.catalog.hardware.health_checks import health_checks
from landbridge.catalog.hardware.xids import xids
from landbridge.ops.gpu_health.values import PREFIX

#: Start of the reasons with which `landbridge configure` and reboot_nodes.yml drain a node; they resume it too.
_RESTARTS = {"landbridge: configure: ": "landbridge configure", "landbridge: restart: ": "reboot_nodes.yml"}
_REASON = re.compile(r"^landbridge:([a-z_]+):(.*?)(?:; do: ([a-z]+)(?: \(and (\d+) more\))?)?$")
#: Instruction for the operator, by the action of a check.
STEPS = {
    "inspect": "repair the fault on the node: the node returns to service by itself",
    "reset": "when its last job has ended, reset the GPU (nvidia-smi --gpu-reset) or reboot the node",
    "reboot": "when its last job has ended, reboot the node (scontrol reboot): the GPU does not answer",
    "repair": "report it to the hardware support; if the finding remains, the part has to be replaced",
}


@dataclass(frozen=True, slots=True)
class ScontrolNode:
    """Node of Slurm. `check` and `action` are None if the reason is not from a health check; `since` is None if Slurm
    reports no time.
    """

    name: str
    state: str
    reason: str
    by: str
    since: datetime | None
    check: str | None
    action: str | None
    #: Problem of a node that stays in service because of the failure budget: the node's comment by the health checks.
    withheld: str = ""

    #: Whether the node itself does not know that its checks have drained it, so that they do not resume it.
    unrecorded: bool = False

    @property
    def drained(self) -> bool:
        """Return whether the node gets no further job."""
        return "DRAIN" in self.state.split("+")


@dataclass(frozen=True, slots=True)
class Why:
    """Explanation of a node that is out of service: meaning and next step."""

    node: ScontrolNode
    meaning: str
    step: str


def node_rows(answer: Mapping[str, Any]) -> tuple[ScontrolNode, ...]:
    """Return the nodes of `scontrol show nodes --json`, in its order, without the reasons of past drains."""
    return tuple(_row(node) for node in answer.get("nodes", ()))


def why(node: ScontrolNode) -> Why:
    """Explain the reason of a node."""
    if node.check is not None and node.drained and node.unrecorded:
        meaning = (
            "the node has no record of this drain: it was installed again, or Slurm drained it and kept an old reason"
        )
        step = f"no check ends the drain; resume it when its checks find nothing: landbridge node resume {node.name}"
        return Why(node, f"{_meaning(node)}; {meaning}", step)
    if node.check is not None and node.drained:
        return Why(node, _meaning(node), STEPS.get(node.action or "", STEPS["inspect"]))
    command = next((command for start, command in _RESTARTS.items() if node.reason.startswith(start)), None)
    if node.drained and node.reason.startswith(PREFIX):
        meaning = f"landbridge health repairs it: {node.reason.removeprefix(PREFIX)}"
        return Why(node, meaning, f"see its state: landbridge health why {node.name}")
    if node.drained and command is not None:
        meaning = f"{command} drained it for a restart: {node.reason.split(': ', 2)[2]}"
        return Why(node, meaning, f"it returns to service by itself; if {command} no longer runs, run it again")
    if node.drained:
        step = "resume it when the work is done: landbridge node resume " + node.name
        return Why(node, f"{node.by or 'an operator'} drained it: {node.reason or 'no reason given'}", step)
    if "DOWN" in node.state.split("+"):
        reason = node.reason or "Slurm gives no reason"
        return Why(node, f"Slurm has set it down: {reason}", "check its slurmd: systemctl status slurmd")
    if node.withheld:
        step = "inspect the nodes that health checks have drained: a fault of all nodes is often not in the nodes"
        return Why(node, f"it is in service with a fault: {node.withheld}", step)
    return Why(node, "it is in service", "nothing to do")


def refused_reason(reason: str) -> str | None:
    """Return the error in an operator's drain reason; None for a valid one."""
    if not reason.strip():
        return "a drain needs a reason that other operators understand"
    if reason.startswith("landbridge:"):
        return "reasons that begin with landbridge: belong to the health checks, which would resume the node"
    if re.search(r"[^\x20-\x7e]|[\"']", reason):
        return "Slurm's reasons are one line of plain characters, without quotes"
    return None


def unknown(names: Iterable[str], rows: Iterable[ScontrolNode]) -> tuple[str, ...]:
    """Return the names that Slurm does not have."""
    known = {row.name for row in rows}
    return tuple(name for name in names if name not in known)


def _row(node: Mapping[str, Any]) -> ScontrolNode:
    flags = node.get("state", [])
    flags = [flags] if isinstance(flags, str) else list(flags)
    is_out = bool({"DRAIN", "DOWN", "FAIL"} & set(flags))
    reason = str(node.get("reason") or "") if is_out else ""
    match = _REASON.match(reason)
    comment = str(node.get("comment") or "")
    at = node.get("reason_changed_at")
    seconds = at.get("number", 0) if isinstance(at, Mapping) else at
    since = datetime.fromtimestamp(seconds, UTC) if is_out and isinstance(seconds, int) and seconds > 0 else None
    return ScontrolNode(
        name=str(node["name"]),
        state="+".join(flags),
        reason=reason,
        by=str(node.get("reason_set_by_user") or "") if is_out else "",
        since=since,
        check=match.group(1) if match else None,
        action=match.group(3) if match else None,
        unrecorded=is_out and comment.startswith("landbridge:record:"),
        withheld=comment if not is_out and _REASON.match(comment) else "",
    )


def _meaning(node: ScontrolNode) -> str:
    if node.check == "xid":
        number = re.search(r":xid:(\d+)", node.reason)
        xid_facts = xids().get(int(number.group(1))) if number else None
        if xid_facts is not None:
            return f"the driver reported Xid {number.group(1) if number else ''}: {xid_facts.description}"
    facts = health_checks().checks.get(node.check or "")
    return facts.meaning if facts is not None else "a check of this node failed"
