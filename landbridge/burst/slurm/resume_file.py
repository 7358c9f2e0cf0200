"""Slurm's resume file: nodes by job. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from landbridge.hostlist import HostlistError, compress, expand


def read_jobs(text: str | None) -> dict[int, tuple[str, ...]]:
    """Job -> its nodes to be started. Jobs that cannot be read are left out: the program's argument has their nodes."""
    if not text:
        return {}
    try:
        raw = json.loads(text)
    except ValueError:
        return {}
    entries = raw.get("jobs") if isinstance(raw, dict) else None
    nodes_of_job: dict[int, tuple[str, ...]] = {}
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            nodes_of_job |= _job(entry)
    return nodes_of_job


def write_jobs(jobs: Mapping[int, tuple[str, ...]]) -> str | None:
    """The same as a resume file; None for no job."""
    if not jobs:
        return None
    return json.dumps({"jobs": [{"job_id": job, "nodes_resume": compress(nodes)} for job, nodes in jobs.items()]})


def read_nodes(text: str) -> tuple[str, ...]:
    """The nodes of a program's argument; none where it cannot be read."""
    try:
        return tuple(dict.fromkeys(expand(text)))
    except HostlistError:
        return ()


def _job(entry: Mapping[str, Any]) -> dict[int, tuple[str, ...]]:
    try:
        # Slurm 22.05 says "nodes" where later versions say "nodes_resume".
        return {int(entry["job_id"]): tuple(expand(str(entry.get("nodes_resume") or entry.get("nodes"))))}
    except (HostlistError, KeyError, TypeError, ValueError):
        return {}
