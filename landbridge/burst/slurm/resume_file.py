"""Slurm's resume file: nodes by job. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from landbridge.hostlist import HostlistError, compress, expand


def read_jobs(text: str | None) -> dict[int, tuple[str, ...]]:
    """Return the nodes to resume by job. Unreadable jobs are omitted: the program's argument has their nodes."""
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
    """Return the jobs in the form of a resume file; None without a job."""
    if not jobs:
        return None
    return json.dumps({"jobs": [{"job_id": job, "nodes_resume": compress(nodes)} for job, nodes in jobs.items()]})


def read_nodes(text: str) -> tuple[str, ...]:
    """Return the nodes of a program's argument; empty if it is unreadable."""
    try:
        return tuple(dict.fromkeys(expand(text)))
    except HostlistError:
        return ()


def _job(entry: Mapping[str, Any]) -> dict[int, tuple[str, ...]]:
    try:
        # The key is "nodes" in Slurm 22.05, "nodes_resume" in later versions.
        return {int(entry["job_id"]): tuple(expand(str(entry.get("nodes_resume") or entry.get("nodes"))))}
    except (HostlistError, KeyError, TypeError, ValueError):
        return {}
