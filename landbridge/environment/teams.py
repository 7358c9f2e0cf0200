"""Environment key `mlops.teams`: workspaces of teams in MLflow, and rights on their registered models."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from landbridge.environment.base import Model, UserName, Word
from landbridge.environment.serving import ModelName


class ModelRights(Model):
    """Rights on a registered model of a team. Every member of the team reads it."""

    may_register: tuple[UserName, ...] | None = Field(
        default=None, description="members that register versions; none: all members"
    )
    may_promote: tuple[UserName, ...] | None = Field(
        default=None, description="members that move aliases, so that a version is served; none: all members"
    )
    readers: tuple[Word, ...] = Field(default=(), description="other teams that may read it and its versions' files")


class Team(Model):
    """Team: a workspace in the MLflow server of each data class of its Slurm accounts. Their users are its members."""

    accounts: Annotated[tuple[UserName, ...], Field(min_length=1)] = Field(
        description="accounts of scheduler.accounts; an account is of one team"
    )
    models: Mapping[ModelName, ModelRights] = Field(
        default={},
        description="registered models with rights of their own; any other model belongs to the member that created it",
    )
