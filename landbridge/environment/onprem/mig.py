"""GPUs in parts: what a group of nodes is partitioned into (Multi-Instance GPU)."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model

Profile = Annotated[str, StringConstraints(pattern=r"^[1-7]g\.\d{1,3}gb$")]
GpuNumbers = Annotated[str, StringConstraints(pattern=r"^\d{1,2}(-\d{1,2})?(,\d{1,2}(-\d{1,2})?)*$")]


class MigPart(Model):
    """GPUs that are cut alike: how many instances of which profile each is cut into. GPUs that no part names stay whole."""

    gpus: GpuNumbers | None = Field(default=None, description="which of a node's, counted from 0; none: all of them")
    instances: Mapping[Profile, Annotated[int, Field(ge=1, le=7)]] = Field(
        min_length=1, description="how many of each profile that one GPU has, such as 1g.10gb: 7"
    )
