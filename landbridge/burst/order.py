"""What Slurm asks for: the resume file's jobs and nodes, and what is known of each job. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.hostlist import HostlistError, expand


@dataclass(frozen=True)
class ResumeJob:
    """A job that waits for nodes. `nodes` are those to be started, `allocated` all that it will run on."""

    id: int
    nodes: tuple[str, ...]
    allocated: tuple[str, ...]
    partition: str = ""


@dataclass(frozen=True)
class ResumeOrder:
    """One call of ResumeProgram. Nodes may be in it without a job (`scontrol update state=power_up`)."""

    nodes: tuple[str, ...]
    jobs: tuple[ResumeJob, ...] = ()


@dataclass(frozen=True)
class JobFacts:
    """What the resume file does not say. None: Slurm did not tell."""

    id: int
    account: str = ""
    user: str = ""
    restarts: int | None = None
    started: int | None = None
    minutes: int | None = None

    @property
    def occasion(self) -> str | None:
        """Tells this start of the job from its other starts; None when that is not known."""
        return None if self.restarts is None or self.started is None else f"{self.restarts}/{self.started}"


def read_order(argument: str, text: str | None) -> ResumeOrder:
    """The order in ResumeProgram's argument and in its resume file's text (None: there was no file).

    The argument is the truth about nodes; jobs that cannot be read are left out, so that their nodes still start.
    """
    nodes = tuple(expand(argument))
    if not text:
        return ResumeOrder(nodes)
    try:
        raw = json.loads(text)
    except ValueError:
        return ResumeOrder(nodes)
    entries = raw.get("jobs") if isinstance(raw, dict) else None
    jobs = [_read_job(entry) for entry in entries or [] if isinstance(entry, dict)]
    return ResumeOrder(nodes, tuple(job for job in jobs if job is not None))


def _read_job(entry: Mapping[str, Any]) -> ResumeJob | None:
    # Slurm 22.05 says "nodes" where later versions say "nodes_resume".
    resume = entry.get("nodes_resume") or entry.get("nodes")
    try:
        nodes = tuple(expand(str(resume)))
        allocated = tuple(expand(str(entry.get("nodes_alloc") or resume)))
        return ResumeJob(int(entry["job_id"]), nodes, allocated, str(entry.get("partition") or ""))
    except (HostlistError, KeyError, ValueError):
        return None
