"""Environment key `mlops.sagemaker`: training jobs on the cluster's data, and a model registry."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from landbridge.environment.base import Model, Word


class SageMakerSettings(Model):
    """SageMaker: a role for training jobs inside the VPC, and model package groups. No domain, no notebooks."""

    data_classes: tuple[Word, ...] = Field(
        default=(),
        description="data classes whose buckets training jobs may use; empty: every class that may be in AWS",
    )
    model_groups: Annotated[tuple[Word, ...], Field(max_length=100)] = Field(
        default=("models",), description="model package groups; each is named <environment>-<group>"
    )
    usd_hour: Mapping[Annotated[str, Field(pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$")], Annotated[float, Field(gt=0)]] = (
        Field(default={}, description="on-demand USD/h of instance types for training, over the catalogue's prices")
    )
