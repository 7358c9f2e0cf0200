"""Qualities of service: what a job of one has before others, and what it may at most have."""

from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text, UserName

#: As slurm.conf and sacctmgr write a duration.
TimeLimit = Annotated[str, StringConstraints(pattern=r"^(\d+|\d+-\d+|(\d+-)?\d+:\d\d(:\d\d)?|INFINITE|UNLIMITED)$")]


class Qos(Model):
    """Slurm quality of service (`sbatch --qos`). Slurm always has one called `normal`, which every account may use."""

    priority: int = Field(
        default=0, ge=0, le=1_000_000, description="the highest of all counts as 1, this one as its share"
    )
    preempts: tuple[UserName, ...] = Field(default=(), description="whose jobs are requeued for one of this")
    max_time: TimeLimit | None = Field(default=None, description="of a job; none: what the queue allows")
    max_gpus: int | None = Field(default=None, ge=1, description="of all its jobs together, at one time")
    max_gpus_per_user: int | None = Field(default=None, ge=1, description="of one user's jobs together, at one time")
    max_jobs_per_user: int | None = Field(default=None, ge=1, description="running at one time")
    usage_factor: float = Field(default=1.0, ge=0.0, le=100.0, description="how much an hour counts for fair share")
    description: Text | None = None
