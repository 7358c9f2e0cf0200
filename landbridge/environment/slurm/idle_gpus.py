"""Environment key `scheduler.idle_gpus`: jobs that do not use their GPUs."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from landbridge.environment.base import Model, UserName, Word

IdleAction = Literal["nothing", "notice", "requeue", "suspend", "cancel"]


class IdleGpus(Model):
    """Actions on jobs whose GPUs have been idle for a time. Of a job's account, workload class and partition, the first
    that is listed decides.
    """

    action: IdleAction = Field(
        default="notice",
        description="action on a batch job of which all GPUs are idle, `grace_minutes` after the notice in its AdminComment; "
        "notice: only the notice. A suspended job keeps its GPUs and their memory",
    )
    accounts: Mapping[UserName, IdleAction] = Field(default={}, description="actions by account")
    classes: Mapping[Word, IdleAction] = Field(default={}, description="actions by workload class")
    partitions: Mapping[Word, IdleAction] = Field(default={}, description="actions by partition")
    window_minutes: int | None = Field(
        default=None, ge=15, le=1440, description="time in which the GPUs have to be idle; none: the catalogue's (60)"
    )
    grace_minutes: int | None = Field(
        default=None, ge=0, le=10_080, description="time from the notice to the action; none: the catalogue's (60)"
    )
    keep_hours: int | None = Field(
        default=None,
        ge=0,
        le=720,
        description="time from its start for which a job with `--comment=idle=keep` is exempt; none: the catalogue's (24)",
    )
