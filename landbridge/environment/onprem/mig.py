"""Environment key `mig`: Multi-Instance GPU partitions of a node group."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model

Profile = Annotated[str, StringConstraints(pattern=r"^[1-7]g\.\d{1,3}gb$")]
GpuNumbers = Annotated[str, StringConstraints(pattern=r"^\d{1,2}(-\d{1,2})?(,\d{1,2}(-\d{1,2})?)*$")]


class MigPart(Model):
    """GPUs with the same MIG layout: number of GPU instances by profile. GPUs without an entry are not partitioned."""

    gpus: GpuNumbers | None = Field(default=None, description="GPU numbers of a node, from 0; none: all GPUs")
    instances: Mapping[Profile, Annotated[int, Field(ge=1, le=7)]] = Field(
        min_length=1, description="number of GPU instances on each GPU by profile, such as 1g.10gb: 7"
    )
