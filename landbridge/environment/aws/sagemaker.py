"""SageMaker beside the cluster: training jobs on the same data, and a registry of models."""

from typing import Annotated

from pydantic import Field

from landbridge.environment.base import Model, Word


class SageMakerSettings(Model):
    """A role for training jobs that stay inside the VPC, and groups of model versions. No domain, no notebooks."""

    data_classes: tuple[Word, ...] = Field(
        default=(), description="whose buckets training jobs use; none: every class that may be in AWS"
    )
    model_groups: Annotated[tuple[Word, ...], Field(max_length=100)] = Field(
        default=("models",), description="groups of the model registry; each is named <environment>-<group>"
    )
