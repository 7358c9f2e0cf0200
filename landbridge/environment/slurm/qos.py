"""Environment key `scheduler.qos`: priority and limits of jobs."""

from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text, UserName

#: Duration in the format of slurm.conf and sacctmgr.
TimeLimit = Annotated[str, StringConstraints(pattern=r"^(\d+|\d+-\d+|(\d+-)?\d+:\d\d(:\d\d)?|INFINITE|UNLIMITED)$")]


class Qos(Model):
    """Slurm quality of service (`sbatch --qos`). Slurm always has the QOS `normal`, which every account may use."""

    priority: int = Field(
        default=0, ge=0, le=1_000_000, description="priority; Slurm divides it by the highest priority of all QOS"
    )
    preempts: tuple[UserName, ...] = Field(default=(), description="QOS whose jobs are requeued for a job of this QOS")
    max_time: TimeLimit | None = Field(default=None, description="time limit of a job; none: that of the partition")
    max_gpus: int | None = Field(default=None, ge=1, description="GPUs of all running jobs together")
    max_gpus_per_user: int | None = Field(default=None, ge=1, description="GPUs of one user's running jobs together")
    max_jobs_per_user: int | None = Field(default=None, ge=1, description="running jobs of one user")
    usage_factor: float = Field(
        default=1.0, ge=0.0, le=100.0, description="factor of the usage that counts for fair share"
    )
    description: Text | None = None
