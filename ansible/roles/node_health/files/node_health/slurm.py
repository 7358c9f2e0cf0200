"""Slurm's state of this node, and its changes by this program."""

from __future__ import annotations

import json
from dataclasses import dataclass

from node_health.run import run

# slurmctld may be busy; Slurm ends the whole program after 60 seconds.
_SECONDS = 20


class SlurmError(Exception):
    """Slurm's controller did not answer, or refused."""


@dataclass(frozen=True)
class State:
    """Drain state of the node in Slurm, with its reason."""

    drained: bool
    reason: str


def state(node: str) -> State:
    """Ask. Raises SlurmError."""
    found = json.loads(_scontrol("show", "node", node, "--json"))["nodes"]
    if not found:
        raise SlurmError(f"Slurm knows no node {node}")
    flags = found[0]["state"]
    flags = flags if isinstance(flags, list) else [flags]
    return State("DRAIN" in flags, str(found[0].get("reason") or ""))


def drain(node: str, reason: str) -> None:
    """Let running jobs end and start no other. Raises SlurmError."""
    _scontrol("update", f"nodename={node}", "state=drain", f"reason={reason}")


def resume(node: str) -> None:
    """Take the drain away and nothing else: a node that is down stays down. Raises SlurmError.

    Slurm keeps the reason, and a later drain without a reason inherits it.
    """
    _scontrol("update", f"nodename={node}", "state=undrain")


def _scontrol(*words: str) -> str:
    answer = run(["scontrol", *words], _SECONDS)
    if answer.code != 0:
        raise SlurmError(answer.first_line or "scontrol does not end")
    return answer.text
