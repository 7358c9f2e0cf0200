"""Processes of this run: rank, count, the coordinator's address, and the site.

Sources in this order: LANDBRIDGE_* variables, Slurm's SLURM_* variables, or a single process.
"""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass


class WorldError(Exception):
    """Invalid or incomplete environment variables of the run."""


@dataclass(frozen=True)
class World:
    """Rank of this process, and facts of its run."""

    rank: int
    size: int
    coordinator: str | None
    hostname: str
    site: str
    job_id: str
    job_name: str
    cluster: str
    restarts: int

    @property
    def leads(self) -> bool:
        """True for the process that writes checkpoints and calls MLflow."""
        return self.rank == 0


def read_world(environ: Mapping[str, str] = os.environ) -> World:
    """Return the process's rank and run from environment variables. Raises WorldError."""
    if "LANDBRIDGE_PROCESS_COUNT" in environ:
        size, rank = _number(environ, "LANDBRIDGE_PROCESS_COUNT"), _number(environ, "LANDBRIDGE_PROCESS_ID")
    elif "SLURM_STEP_NUM_TASKS" in environ:
        size, rank = _number(environ, "SLURM_STEP_NUM_TASKS"), _number(environ, "SLURM_PROCID")
    else:
        size, rank = 1, 0
    coordinator = environ.get("LANDBRIDGE_COORDINATOR") or None
    if size < 1 or not 0 <= rank < size:
        raise WorldError(f"process {rank} of {size} is not a place in a run")
    if size > 1 and coordinator is None:
        raise WorldError(f"{size} processes need LANDBRIDGE_COORDINATOR=address:port (digits.sbatch sets it)")
    return World(
        rank=rank,
        size=size,
        coordinator=coordinator,
        hostname=environ.get("SLURMD_NODENAME") or socket.gethostname(),
        site=environ.get("LANDBRIDGE_SITE", "unknown"),
        job_id=environ.get("SLURM_JOB_ID") or environ.get("LANDBRIDGE_JOB_ID", ""),
        job_name=environ.get("SLURM_JOB_NAME", "digits"),
        cluster=environ.get("SLURM_CLUSTER_NAME") or environ.get("LANDBRIDGE_CLUSTER", "local"),
        restarts=int(environ.get("SLURM_RESTART_COUNT", "0")),
    )


def _number(environ: Mapping[str, str], name: str) -> int:
    try:
        return int(environ[name])
    except KeyError:
        raise WorldError(f"{name} is not set") from None
    except ValueError:
        raise WorldError(f"{name} is not a number: {environ[name]!r}") from None
