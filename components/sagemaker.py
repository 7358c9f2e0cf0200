"""SageMaker without a domain: roles of training jobs, policies of their users, model package groups."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.aws import sagemaker as plan
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.sagemaker import Inside, SageMakerArgs, SageMakerClass


class SageMaker(Component):
    """Role of each data class for training jobs inside the VPC, policies for users who start them, and model package groups.

    Costs nothing by itself; a job costs its instances by the second. Protects: jobs run in the private subnets only, with
    encryption between containers and at rest with the data class's own key; they read the bucket of their class and write below one
    prefix of it, and cannot access another class. With `protect`, Pulumi refuses to delete model package groups.
    Opens nothing: the security group of a class allows traffic between its own members only.
    """

    roles: dict[str, aws.iam.Role]
    policies: dict[str, aws.iam.Policy]
    security_groups: dict[str, aws.ec2.SecurityGroup]

    def __init__(
        self,
        name: str,
        args: SageMakerArgs,
        *,
        account: Account,
        region: str,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        bucket_arns: Mapping[str, pulumi.Input[str]],
        key_arns: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"cluster": args.cluster}, opts)
        self._name, self._args, self._subnet_ids = name, args, subnet_ids
        self._child_options = pulumi.ResourceOptions(parent=self)
        self.roles, self.policies, self.security_groups = {}, {}, {}
        for jobs in args.classes:
            group = self.security_groups[jobs.data_class] = self._group(jobs, vpc_id)
            role = self.roles[jobs.data_class] = self._role(jobs, account)
            facts = pulumi.Output.all(
                place=pulumi.Output.all(account.partition, account.id),
                vpc=vpc_id,
                subnets=[subnet_ids[zone] for zone in sorted(subnet_ids)],
                group=group.id,
                bucket=bucket_arns[jobs.data_class],
                key=key_arns[jobs.data_class],
                role=role.arn,
            )
            self.policies[jobs.data_class] = self._permissions(jobs, role, region, facts)
        self.groups = {group.key: self._models(group) for group in args.groups}
        self.approver = self._approver(args.approver, account, region) if args.approver is not None else None
        self.register_outputs({"roleArns": {name: role.arn for name, role in self.roles.items()}})

    def exports(self) -> dict[str, Any]:
        """Return the stack's `sagemaker` output: the inputs of a training job."""
        return {
            "classes": {
                data_class: {
                    "role_arn": role.arn,
                    "policy_arn": self.policies[data_class].arn,
                    "security_group_id": self.security_groups[data_class].id,
                }
                for data_class, role in self.roles.items()
            },
            "subnet_ids": [self._subnet_ids[zone] for zone in sorted(self._subnet_ids)],
            "prefix": plan.PREFIX,
            "model_groups": {key: group.model_package_group_name for key, group in self.groups.items()},
            "approver_policy_arn": self.approver.arn if self.approver is not None else None,
        }

    def _role(self, jobs: SageMakerClass, account: Account) -> aws.iam.Role:
        args = self._args
        return aws.iam.Role(
            f"{self._name}-sagemaker-{jobs.data_class}",
            name=jobs.role,
            path=args.path,
            permissions_boundary=args.permissions_boundary,
            description=f"Landbridge {args.cluster}: training jobs of SageMaker for {jobs.data_class}",
            assume_role_policy=account.id.apply(plan.job_trust),
            tags=named(args.tags, jobs.role),
            opts=self._child_options,
        )

    def _permissions(
        self, jobs: SageMakerClass, role: aws.iam.Role, region: str, facts: pulumi.Output[Mapping[str, Any]]
    ) -> aws.iam.Policy:
        """Create the policy of the role; return the policy to start its jobs."""
        args = self._args
        aws.iam.RolePolicy(
            f"{self._name}-sagemaker-{jobs.data_class}",
            name="landbridge",
            role=role.id,
            policy=facts.apply(lambda f: plan.job_policy(args, *_facts(args, region, f))),
            opts=self._child_options,
        )
        return aws.iam.Policy(
            f"{self._name}-train-{jobs.data_class}",
            name=jobs.policy,
            path=args.path,
            description=f"Landbridge {args.cluster}: start training jobs of SageMaker for {jobs.data_class}, and register models",
            policy=facts.apply(lambda f: plan.starter_policy(args, *_facts(args, region, f), f["role"])),
            tags=named(args.tags, jobs.policy),
            opts=self._child_options,
        )

    def _approver(self, label: str, account: Account, region: str) -> aws.iam.Policy:
        """Create the policy to approve model packages."""
        args, place = self._args, pulumi.Output.all(account.partition, account.id)
        return aws.iam.Policy(
            f"{self._name}-approve-models",
            name=label,
            path=args.path,
            description=f"Landbridge {args.cluster}: approve model packages",
            policy=place.apply(lambda p: plan.approver_policy(args, ArnContext(args.cluster, p[0], region, p[1]))),
            tags=named(args.tags, label),
            opts=self._child_options,
        )

    def _models(self, group: plan.ModelGroup) -> aws.sagemaker.ModelPackageGroup:
        is_protected = self._args.protect
        return aws.sagemaker.ModelPackageGroup(
            f"{self._name}-{group.key}",
            model_package_group_name=group.name,
            model_package_group_description=f"Landbridge {self._args.cluster}: versions of models",
            tags=named(self._args.tags, group.name),
            opts=pulumi.ResourceOptions(parent=self, protect=is_protected, retain_on_delete=is_protected),
        )

    def _group(self, jobs: SageMakerClass, vpc_id: pulumi.Input[str]) -> aws.ec2.SecurityGroup:
        label, resource = jobs.security_group, f"{self._name}-sagemaker-{jobs.data_class}"
        group = aws.ec2.SecurityGroup(
            resource,
            name=label,
            description=f"Landbridge {self._args.cluster}: training jobs of SageMaker for {jobs.data_class}",
            vpc_id=vpc_id,
            tags=named(self._args.tags, label),
            opts=self._child_options,
        )
        own_group = {"ip_protocol": "-1", "referenced_security_group_id": group.id}
        for kind, key, why, rule_arguments in (
            (aws.vpc.SecurityGroupIngressRule, "self-in", "containers of one job", own_group),
            (aws.vpc.SecurityGroupEgressRule, "self-out", "containers of one job", own_group),
            (
                aws.vpc.SecurityGroupEgressRule,
                "https",
                "services of AWS: S3, KMS, ECR, logs",
                {"ip_protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_ipv4": "0.0.0.0/0"},
            ),
        ):
            kind(
                f"{resource}-{key}",
                security_group_id=group.id,
                description=why,
                tags=self._args.tags,
                opts=self._child_options,
                **rule_arguments,
            )
        return group


def _facts(args: SageMakerArgs, region: str, facts: Mapping[str, Any]) -> tuple[ArnContext, Inside]:
    partition, account = facts["place"]
    place = ArnContext(args.cluster, partition, region, account)
    inside = Inside(
        vpc=facts["vpc"],
        subnets=tuple(facts["subnets"]),
        security_group=facts["group"],
        bucket=facts["bucket"],
        key=facts["key"],
    )
    return place, inside
