"""Reset of GPUs and restart of this node, if `landbridge health` has drained it and nothing runs on it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from host_access.answer import Answer
from host_access.words import Request

#: Start of the reasons of these drains in Slurm. A node that an operator drained has another reason.
PREFIX = "landbridge: health: "
#: Services that hold the GPUs: stopped for a reset, and started again in any case.
SERVICES = ("nvidia-dcgm", "nvidia-persistenced")
#: Exit code of nvidia-smi for a corrupted infoROM: it has done or printed all else (nvidia-smi(1), RETURN VALUE).
_CORRUPTED = 14
_SECONDS = 120


class UnfitError(Exception):
    """State in which the node is not repaired."""


def repair(request: Request, budget: int) -> Answer:
    """Reset the GPUs, or restart the node. `budget`: nodes that may be out of service at the same time; 0: any number."""
    try:
        _assert_fit(os.environ.get("SLURMD_NODENAME") or socket.gethostname().partition(".")[0], budget)
        if request.word == "reboot":
            _run("systemctl", "--no-block", "reboot")
            return Answer(0, "the node restarts\n")
        return Answer(0, _reset(request.arguments[0]))
    except UnfitError as error:
        return Answer(1, "", f"{error}\n")


def _assert_fit(node: str, budget: int) -> None:
    nodes = {entry["name"]: entry for entry in _nodes()}
    if node not in nodes:
        raise UnfitError(f"Slurm has no node {node}")
    if not _is_drained(nodes[node]):
        raise UnfitError(f"{node} is not drained by landbridge health: {nodes[node].get('reason') or 'no reason'}")
    if {"ALLOCATED", "MIXED", "COMPLETING"} & set(_flags(nodes[node])):
        raise UnfitError(f"{node} has jobs")
    out = [name for name, entry in nodes.items() if _is_drained(entry) and "CLOUD" not in _flags(entry)]
    if budget and len(out) > budget:
        raise UnfitError(f"{len(out)} nodes are drained by landbridge health, and the failure budget is {budget}")


def _reset(gpus: str) -> str:
    listed = _run("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader").split()
    unknown = [gpu for gpu in gpus.split(",") if gpu not in listed]
    if unknown:
        raise UnfitError(f"this node has no {', '.join(unknown)}")
    lines = _run("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader,nounits").splitlines()
    processes = [line.strip() for line in lines if line.strip() and not line.startswith("WARNING: ")]
    if processes:
        raise UnfitError(f"processes hold a GPU: {', '.join(processes)}")
    running = [name for name in SERVICES if _status("systemctl", "is-active", "--quiet", name).returncode == 0]
    try:
        for name in running:
            _run("systemctl", "stop", name)
        return _run("nvidia-smi", "-i", gpus, "--gpu-reset")
    finally:
        for name in running:
            # One that does not start in time keeps no other stopped.
            with suppress(UnfitError):
                _status("systemctl", "start", name)


def _nodes() -> list[dict[str, Any]]:
    try:
        return list(json.loads(_run("scontrol", "show", "nodes", "--json"))["nodes"])
    except (ValueError, KeyError):
        raise UnfitError("scontrol did not answer in JSON") from None


def _is_drained(entry: Mapping[str, Any]) -> bool:
    return "DRAIN" in _flags(entry) and str(entry.get("reason") or "").startswith(PREFIX)


def _flags(entry: Mapping[str, Any]) -> list[str]:
    flags = entry.get("state", [])
    return [flags] if isinstance(flags, str) else list(flags)


def _run(*words: str) -> str:
    done = _status(*words)
    if done.returncode != 0 and (words[0], done.returncode) != ("nvidia-smi", _CORRUPTED):
        raise UnfitError(f"{words[0]} failed: {(done.stderr or done.stdout).strip()[:300]}")
    return done.stdout


def _status(*words: str) -> subprocess.CompletedProcess[str]:
    command: Sequence[str] = words
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnfitError(f"{words[0]}: {error}") from None
