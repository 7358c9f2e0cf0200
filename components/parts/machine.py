"""Parts of a service host: security group, IAM role with instance profile, EC2 instance."""

import base64
from collections.abc import Iterable, Mapping

import pulumi
import pulumi_aws as aws

from landbridge.plan.args import named
from landbridge.plan.aws.access.role_trust import instance_trust
from landbridge.plan.aws.machine import MachinePlan
from landbridge.plan.aws.pool import SecurityGroupRule


def security_group(
    name: str,
    label: str,
    description: str,
    security_group_rules: Iterable[SecurityGroupRule],
    *,
    vpc_id: pulumi.Input[str],
    tags: Mapping[str, str],
    child_options: pulumi.ResourceOptions,
) -> aws.ec2.SecurityGroup:
    """Create a security group with its rules; all other traffic is denied in both directions."""
    security_group = aws.ec2.SecurityGroup(
        name, name=label, description=description, vpc_id=vpc_id, tags=named(tags, label), opts=child_options
    )
    for rule in security_group_rules:
        kind = aws.vpc.SecurityGroupIngressRule if rule.direction == "in" else aws.vpc.SecurityGroupEgressRule
        ports = {} if rule.ports is None else {"from_port": rule.ports[0], "to_port": rule.ports[1]}
        kind(
            f"{name}-{rule.key}",
            security_group_id=security_group.id,
            ip_protocol=rule.protocol,
            cidr_ipv4=rule.peer,
            description=rule.why,
            tags=dict(tags),
            opts=child_options,
            **ports,
        )
    return security_group


def role(
    name: str,
    label: str,
    *,
    path: str,
    boundary: str | None,
    tags: Mapping[str, str],
    child_options: pulumi.ResourceOptions,
) -> tuple[aws.iam.Role, aws.iam.InstanceProfile]:
    """Create a role that only EC2 may assume, and its instance profile."""
    role = aws.iam.Role(
        name,
        name=label,
        path=path,
        permissions_boundary=boundary,
        assume_role_policy=instance_trust(),
        tags=dict(tags),
        opts=child_options,
    )
    return role, aws.iam.InstanceProfile(
        name, name=label, path=path, role=role.name, tags=dict(tags), opts=child_options
    )


def instance(
    name: str,
    plan: MachinePlan,
    *,
    group_id: pulumi.Input[str],
    subnet_id: pulumi.Input[str],
    profile: aws.iam.InstanceProfile | None,
    tags: Mapping[str, str],
    parent: pulumi.Resource,
    protect: bool = False,
    depends_on: Iterable[pulumi.Resource] = (),
    shutdown_behavior: str | None = None,
) -> aws.ec2.Instance:
    """Create the instance at its address; a replacement is created after the old instance is deleted, at the same
    address.

    Without a profile its programs have no rights in AWS. A later change of the image or the user data does not change the instance: both are used at its first boot only.
    """
    image: pulumi.Input[str] = plan.image
    if not plan.image.startswith("ami-"):
        invoke_options = pulumi.InvokeOutputOptions(parent=parent)
        image = aws.ssm.get_parameter_output(name=plan.image, opts=invoke_options).value
    host_tags = {**named(tags, plan.name), "landbridge:host": plan.host}
    return aws.ec2.Instance(
        name,
        ami=image,
        instance_type=plan.instance_type,
        subnet_id=subnet_id,
        private_ip=plan.address,
        vpc_security_group_ids=[group_id],
        iam_instance_profile=profile.name if profile is not None else None,
        instance_initiated_shutdown_behavior=shutdown_behavior,
        # Refuses termination in the console by mistake; `protect` refuses it in Pulumi.
        disable_api_termination=protect,
        force_destroy=True,
        metadata_options={
            "http_endpoint": "enabled",
            "http_tokens": "required",
            "http_put_response_hop_limit": 1,
            "instance_metadata_tags": "enabled",
        },
        root_block_device={
            "volume_size": plan.root_gib,
            "volume_type": "gp3",
            "encrypted": True,
            "delete_on_termination": True,
            # Not `volume_tags`: with it the provider reads and sets the tags of all attached volumes, also of the state volume,
            # which has its own resource.
            "tags": host_tags,
        },
        user_data_base64=base64.b64encode(plan.user_data.encode()).decode(),
        tags=host_tags,
        opts=pulumi.ResourceOptions(
            parent=parent,
            protect=protect,
            delete_before_replace=True,
            ignore_changes=["ami", "userDataBase64"],
            depends_on=list(depends_on),
        ),
    )
