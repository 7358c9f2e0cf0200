"""Slurm's state of this node, and its changes by this program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from node_health.problem import counts
from node_health.run import OutOfTimeError, run

# slurmctld may be busy; all calls together end before HealthCheckTimeout (__main__.py).
_SECONDS = 10


class SlurmError(Exception):
    """Error: slurmctld did not answer, or refused."""


@dataclass(frozen=True)
class State:
    """Drain state of the node in Slurm, with its reason and comment."""

    drained: bool
    reason: str
    comment: str = ""


def state(node: str) -> State:
    """Return the node's drain state. Raises SlurmError."""
    nodes = _show(node)
    if not nodes:
        raise SlurmError(f"Slurm has no node {node}")
    return State("DRAIN" in _flags(nodes[0]), str(nodes[0].get("reason") or ""), str(nodes[0].get("comment") or ""))


def permits(budget: int, node: str) -> bool:
    """Return whether the failure budget, a number of nodes, permits that the node is drained, or remains drained. Zero
    permits any number. Raises SlurmError.

    Nodes drain themselves, so that two may do so at the same time: the later one sees both, and of equal times the name
    decides. Nodes that an operator or Slurm drained do not count, nor do cloud nodes, which are replaced.
    """
    if budget <= 0:
        return True
    drained = sorted(
        (_changed_at(entry), str(entry["name"]))
        for entry in _show()
        if "DRAIN" in _flags(entry) and "CLOUD" not in _flags(entry) and counts(str(entry.get("reason") or ""))
    )
    names = [name for _, name in drained]
    return (names.index(node) if node in names else len(names)) < budget


def drain(node: str, reason: str) -> None:
    """Drain the node: running jobs end normally, no other starts. Raises SlurmError."""
    _scontrol("update", f"nodename={node}", "state=drain", f"reason={reason}")


def resume(node: str) -> None:
    """Remove only the drain: a node that is down stays down. Raises SlurmError.

    Slurm keeps the reason, and a later drain without a reason inherits it.
    """
    _scontrol("update", f"nodename={node}", "state=undrain")


def comment(node: str, text: str) -> None:
    """Replace the node's comment, which `scontrol show node` prints. Raises SlurmError."""
    _scontrol("update", f"nodename={node}", f"comment={text}")


def _show(*nodes: str) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = json.loads(_scontrol("show", "node", *nodes, "--json"))["nodes"]
    return shown


def _flags(node: Mapping[str, Any]) -> list[str]:
    flags = node["state"]
    return list(flags) if isinstance(flags, list) else [str(flags)]


def _changed_at(node: Mapping[str, Any]) -> int:
    at = node.get("reason_changed_at")
    return int(at.get("number", 0)) if isinstance(at, Mapping) else int(at or 0)


def _scontrol(*words: str) -> str:
    try:
        output = run(["scontrol", *words], _SECONDS)
    except OutOfTimeError:
        raise SlurmError("scontrol does not end") from None
    if output.code != 0:
        raise SlurmError(output.first_line or "scontrol does not end")
    return output.text
