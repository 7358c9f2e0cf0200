"""Job file, environment and stack outputs of the tests."""

from typing import Any

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.outputs import BucketOutput, DataHubOutput, SageMakerClassOutput, SageMakerOutput, StackOutputs
from tests.unit.core.samples import environment
from tests.unit.plan.ansible.test_inventory import OUTPUTS

IMAGE = f"123456789012.dkr.ecr.us-east-1.amazonaws.com/digits@sha256:{'0a' * 32}"
LINES = (
    "#SBATCH --job-name=digits",
    "#SBATCH --account=vision",
    "#SBATCH --gpus-per-node=1",
    "#SBATCH --time=02:00:00",
    f"#SBATCH --container-image={IMAGE}",
)
SAGEMAKER: dict[DataPath, Any] = {("mlops", "sagemaker"): {}}


def script(*more: str, without: str = "") -> str:
    """Return a job file with further lines, and without the lines that have a text."""
    lines = [line for line in (*LINES, *more) if not without or without not in line]
    return "\n".join(["#!/bin/bash", *lines, "python train.py --steps 10", ""])


def place(changes: dict[DataPath, Any] | None = None) -> Environment:
    """Return an environment with SageMaker."""
    return environment({**SAGEMAKER, **(changes or {})})


def outputs(role: str = "arn:aws:iam::123456789012:role/test-sagemaker-internal", subnets: tuple[str, ...] = ("subnet-1",), group: str = "sg-1") -> StackOutputs:  # fmt: skip
    """Return stack outputs with the resources of the class `internal`."""
    jobs = SageMakerClassOutput(role_arn=role, policy_arn="arn:aws:iam::123456789012:policy/x", security_group_id=group)
    bucket = BucketOutput(name="test-internal", key_arn="arn:aws:kms:us-east-1:123456789012:key/1")
    sagemaker = SageMakerOutput(classes={"internal": jobs}, subnet_ids=subnets, prefix="sagemaker")
    return OUTPUTS.model_copy(update={"sagemaker": sagemaker, "data_hub": DataHubOutput(buckets={"internal": bucket})})
