"""`landbridge:index:SageMaker`."""

from typing import Any, NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of, wanted_plan, whole
from landbridge.plan.aws.sagemaker import SageMakerArgs, sagemaker_args


class SageMakerInputs(OwnedInputs):
    """Training and models in SageMaker, without a domain."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""
    bucket_arns: dict[str, pulumi.Input[str]]
    """The hub's buckets by data class."""
    key_arns: dict[str, pulumi.Input[str]]
    """Their keys by data class."""
    sagemaker: NotRequired[dict[str, Any]]
    """As mlops.sagemaker in an environment file."""


class SageMaker(pulumi.ComponentResource):
    """A role for training jobs inside the VPC, a policy for whoever starts them, and groups of model versions."""

    role_arn: pulumi.Output[str]
    """The jobs' role."""
    policy_arn: pulumi.Output[str]
    """For whoever starts jobs."""
    security_group_id: pulumi.Output[str]
    """The jobs' security group."""

    def __init__(self, name: str, args: SageMakerInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> SageMakerArgs:
            site = site_of(
                args,
                classes=list(args["bucket_arns"]),
                mlops={"sagemaker": whole(args.get("sagemaker", {}))},
            )
            return wanted_plan(sagemaker_args(site), "SageMaker")

        wanted = planned(f"SageMaker {name}", plan)
        super().__init__("landbridge:index:SageMaker", name, dict(args), opts)
        made = components.SageMaker(
            name,
            wanted,
            account=account_of(self),
            region=args["region"],
            vpc_id=args["vpc_id"],
            subnet_ids=args["subnet_ids"],
            bucket_arns=args["bucket_arns"],
            key_arns=args["key_arns"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.role_arn = made.role.arn
        self.policy_arn = made.policy.arn
        self.security_group_id = made.security_group.id
        self.register_outputs(
            {"roleArn": self.role_arn, "policyArn": self.policy_arn, "securityGroupId": self.security_group_id}
        )
