"""Slurm's state of this node, and its changes by this program."""

from __future__ import annotations

import json
from dataclasses import dataclass

from node_health.run import run

# slurmctld may be busy; Slurm terminates this program after 60 seconds.
_SECONDS = 20


class SlurmError(Exception):
    """Error: slurmctld did not answer, or refused."""


@dataclass(frozen=True)
class State:
    """Drain state of the node in Slurm, with its reason."""

    drained: bool
    reason: str


def state(node: str) -> State:
    """Return the node's drain state. Raises SlurmError."""
    nodes = json.loads(_scontrol("show", "node", node, "--json"))["nodes"]
    if not nodes:
        raise SlurmError(f"Slurm knows no node {node}")
    flags = nodes[0]["state"]
    flags = flags if isinstance(flags, list) else [flags]
    return State("DRAIN" in flags, str(nodes[0].get("reason") or ""))


def drain(node: str, reason: str) -> None:
    """Drain the node: running jobs end normally, no other starts. Raises SlurmError."""
    _scontrol("update", f"nodename={node}", "state=drain", f"reason={reason}")


def resume(node: str) -> None:
    """Remove only the drain: a node that is down stays down. Raises SlurmError.

    Slurm keeps the reason, and a later drain without a reason inherits it.
    """
    _scontrol("update", f"nodename={node}", "state=undrain")


def _scontrol(*words: str) -> str:
    output = run(["scontrol", *words], _SECONDS)
    if output.code != 0:
        raise SlurmError(output.first_line or "scontrol does not end")
    return output.text
