"""Build instance of EC2 Image Builder: no inbound access, with permissions for one build."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from landbridge.plan.args import named
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.node_image.iam_roles import ImageBuildResources, builder_policy, builder_trust
from landbridge.plan.node_image.node_image import NodeImageArgs


class ImageBuilder:
    """IAM role, security group, log group and infrastructure configuration of the build instance, children of
    `component`.
    """

    configuration: aws.imagebuilder.InfrastructureConfiguration

    def __init__(
        self,
        child: str,
        args: NodeImageArgs,
        *,
        account: Account,
        vpc_id: pulumi.Input[str],
        subnet_id: pulumi.Input[str],
        archive_arn: pulumi.Output[str],
        component_arn: pulumi.Output[str],
        component: pulumi.Resource,
    ) -> None:
        self._child, self._args, self._label = f"{child}-build", args, f"{args.name}-build"
        self._child_options = pulumi.ResourceOptions(parent=component)
        logs = aws.cloudwatch.LogGroup(
            child, name=args.log_group, retention_in_days=args.log_days, tags=args.tags, opts=self._child_options
        )
        # The last part of a component's ARN is its build number.
        component_builds = component_arn.apply(lambda arn: f"{arn.rpartition('/')[0]}/*")
        account_facts = {"partition": account.partition, "account": account.id}
        profile = self._profile(
            {"archive": archive_arn, "log_group": logs.arn, "component": component_builds}, account_facts
        )
        self.configuration = aws.imagebuilder.InfrastructureConfiguration(
            child,
            name=args.name,
            description=f"Landbridge {args.cluster}: build instance of image {args.image}",
            instance_profile_name=profile.name,
            instance_types=list(args.instance_types),
            instance_metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
            security_group_ids=[self._group(vpc_id)],
            subnet_id=subnet_id,
            terminate_instance_on_failure=True,
            resource_tags=dict(args.tags),
            tags=named(args.tags, args.name),
            opts=self._child_options,
        )

    def _profile(
        self, resource_arns: Mapping[str, pulumi.Input[str]], account_facts: Mapping[str, pulumi.Input[str]]
    ) -> aws.iam.InstanceProfile:
        args = self._args
        role = aws.iam.Role(
            self._child,
            name=self._label,
            path=args.path,
            permissions_boundary=args.permissions_boundary,
            assume_role_policy=builder_trust(),
            tags=args.tags,
            opts=self._child_options,
        )
        aws.iam.RolePolicy(
            self._child,
            name="landbridge",
            role=role.id,
            policy=pulumi.Output.all(pulumi.Output.all(**account_facts), pulumi.Output.all(**resource_arns)).apply(
                lambda facts: builder_policy(
                    ArnContext(args.cluster, region=args.region, **facts[0]), ImageBuildResources(**facts[1])
                )
            ),
            opts=self._child_options,
        )
        return aws.iam.InstanceProfile(
            self._child, name=self._label, path=args.path, role=role.name, tags=args.tags, opts=self._child_options
        )

    def _group(self, vpc_id: pulumi.Input[str]) -> pulumi.Output[str]:
        args = self._args
        group = aws.ec2.SecurityGroup(
            self._child,
            name=self._label,
            description=f"Landbridge {args.cluster}: builds of image {args.image}",
            vpc_id=vpc_id,
            tags=named(args.tags, self._label),
            opts=self._child_options,
        )
        for rule in args.egress:
            aws.vpc.SecurityGroupEgressRule(
                f"{self._child}-{rule.key}",
                security_group_id=group.id,
                ip_protocol="tcp",
                cidr_ipv4="0.0.0.0/0",
                from_port=rule.port,
                to_port=rule.port,
                description=rule.why,
                tags=args.tags,
                opts=self._child_options,
            )
        return group.id
