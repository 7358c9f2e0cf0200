"""`landbridge:index:SageMaker`."""

from typing import Any, NotRequired

import pulumi

from components import sagemaker
from components.multilang.inputs import OwnedInputs, environment_of, required_plan, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.aws.sagemaker import SageMakerArgs, sagemaker_args


class SageMakerInputs(OwnedInputs):
    """SageMaker training jobs and model package groups, without a SageMaker domain."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""
    bucket_arns: dict[str, pulumi.Input[str]]
    """The data hub's buckets by data class."""
    key_arns: dict[str, pulumi.Input[str]]
    """The buckets' keys by data class."""
    sagemaker: NotRequired[dict[str, Any]]
    """As mlops.sagemaker in an environment file."""


class SageMaker(Adapter):
    """A role of each data class for training jobs inside the VPC, policies for users who start them, and model package groups."""

    role_arns: pulumi.Output[dict[str, str]]
    """The jobs' roles by data class."""
    policy_arns: pulumi.Output[dict[str, str]]
    """The policies for users who start jobs, by data class."""
    security_group_ids: pulumi.Output[dict[str, str]]
    """The jobs' security groups by data class."""

    def __init__(self, name: str, args: SageMakerInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            name,
            args,
            opts,
            plan=_plan,
            component=sagemaker.SageMaker,
            outputs=lambda component: {
                "role_arns": {name: role.arn for name, role in component.roles.items()},
                "policy_arns": {name: policy.arn for name, policy in component.policies.items()},
                "security_group_ids": {name: group.id for name, group in component.security_groups.items()},
            },
        )


def _plan(args: SageMakerInputs) -> SageMakerArgs:
    settings = with_integers(args.get("sagemaker", {}))
    environment = environment_of(args, classes=list(args["bucket_arns"]), mlops={"sagemaker": settings})
    return required_plan(sagemaker_args(environment), "SageMaker")


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az4": "subnet-1", "use1-az6": "subnet-2"},
    "bucket_arns": {"internal": "arn:aws:s3:::lab-internal-123456789012"},
    "key_arns": {"internal": "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"},
    "sagemaker": {},
}
