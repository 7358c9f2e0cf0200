"""Claims about launches, terminations, the reaper and the budget: lines of docs/explanation/identity.md."""

from tests.graph.iam.claim import (
    CLUSTER,
    DENIAL,
    IMAGE,
    INSTANCE,
    JOBS,
    LAUNCH,
    LOGS,
    NEW_NODE,
    NODE,
    OTHER_CLUSTER,
    OWN_CLUSTER,
    POOL_OF_CLUSTER,
    TEMPLATE,
    TO_EC2,
    TO_JOBS,
    Claim,
    ClaimRequest,
    allowed,
    denied,
    without,
)
from tests.graph.support.policy_documents import ACCOUNT, arn

LAUNCHES = (
    Claim(
        ("launch",),
        "launches only nodes: with this cluster's tags, from its launch templates and their images, of its pools' types, "
        "in its subnets, security groups, placement groups and reservations (whole requests: `test_whole_launches.py`)",
        (
            allowed("ec2:DescribeInstances", "*"),
            allowed("ec2:DescribeInstanceTopology", "*"),
            allowed("ec2:DescribeInstanceStatus", "*"),
            allowed("ec2:RunInstances", INSTANCE, NEW_NODE),
            denied("ec2:RunInstances", INSTANCE, {**NEW_NODE, "aws:RequestTag/landbridge:cluster": "other"}),
            denied("ec2:RunInstances", INSTANCE, without(NEW_NODE, "aws:RequestTag/landbridge:pool")),
            denied("ec2:RunInstances", INSTANCE, without(NEW_NODE, "ec2:LaunchTemplate")),
            denied("ec2:RunInstances", INSTANCE, {**NEW_NODE, "ec2:InstanceType": "p4d.24xlarge"}),
            allowed("ec2:RunInstances", TEMPLATE, POOL_OF_CLUSTER),
            denied("ec2:RunInstances", TEMPLATE, OWN_CLUSTER),
            denied("ec2:RunInstances", TEMPLATE, {**POOL_OF_CLUSTER, **OTHER_CLUSTER}),
            denied("ec2:RunInstances", TEMPLATE),
            allowed("ec2:RunInstances", IMAGE, {"ec2:IsLaunchTemplateResource": "true"}),
            denied("ec2:RunInstances", IMAGE, {"ec2:IsLaunchTemplateResource": "false"}),
            denied("ec2:RunInstances", IMAGE),
            denied("ec2:CreateFleet", arn("ec2", "fleet/f-1"), NEW_NODE),
            denied("ec2:CreateLaunchTemplateVersion", TEMPLATE, POOL_OF_CLUSTER),
            denied("ec2:ModifyLaunchTemplate", TEMPLATE, POOL_OF_CLUSTER),
        ),
    ),
    Claim(
        ("launch",),
        "passes the nodes' role, only that one, and only to EC2",
        (
            allowed("iam:PassRole", NODE, TO_EC2),
            denied("iam:PassRole", NODE, {"iam:PassedToService": "lambda.amazonaws.com"}),
            denied("iam:PassRole", NODE),
            denied("iam:PassRole", LAUNCH, TO_EC2),
            denied("iam:PassRole", JOBS, TO_JOBS),
            denied("iam:PassRole", JOBS, TO_EC2),
            denied("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/admin", TO_EC2),
        ),
    ),
    Claim(
        ("launch",),
        "tags its nodes in the launch alone, renews their leases, and takes over no instance by a tag",
        (
            allowed("ec2:CreateTags", INSTANCE, {"ec2:CreateAction": "RunInstances"}),
            denied("ec2:CreateTags", INSTANCE, {"ec2:CreateAction": "CreateFleet"}),
            ClaimRequest(
                "ec2:CreateTags", INSTANCE, True, {**OWN_CLUSTER, "aws:TagKeys": ["landbridge:lease-expires"]}
            ),
            denied("ec2:CreateTags", INSTANCE, {**OTHER_CLUSTER, "aws:TagKeys": ["landbridge:lease-expires"]}),
            denied("ec2:CreateTags", INSTANCE, {**OWN_CLUSTER, "aws:TagKeys": ["landbridge:node"]}),
            denied("ec2:CreateTags", INSTANCE, {**OWN_CLUSTER, "aws:TagKeys": ["Name", "landbridge:lease-expires"]}),
            denied("ec2:CreateTags", INSTANCE, {**OWN_CLUSTER, "aws:TagKeys": ["landbridge:cluster"]}),
            denied("ec2:CreateTags", INSTANCE, {"aws:TagKeys": ["landbridge:cluster"]}),
            denied("ec2:CreateTags", INSTANCE, OWN_CLUSTER),
        ),
    ),
    Claim(
        ("launch", "node", "read", "hub", "mover"),
        "terminates nothing",
        (
            denied("ec2:TerminateInstances", INSTANCE, POOL_OF_CLUSTER),
            denied("ec2:StopInstances", INSTANCE, POOL_OF_CLUSTER),
        ),
    ),
    Claim(
        ("terminate",),
        "terminates nodes of this cluster, and no other instances: no gateway, no controller",
        (
            allowed("ec2:TerminateInstances", INSTANCE, POOL_OF_CLUSTER),
            denied("ec2:TerminateInstances", INSTANCE, OWN_CLUSTER),
            denied("ec2:TerminateInstances", INSTANCE, {**POOL_OF_CLUSTER, **OTHER_CLUSTER}),
            denied("ec2:TerminateInstances", INSTANCE),
            denied("ec2:DeleteVolume", arn("ec2", "volume/v"), OWN_CLUSTER),
        ),
    ),
    Claim(
        ("terminate",),
        "deletes volumes and interfaces that a launch of this cluster created, and no others",
        tuple(
            request
            for action, part in (
                ("ec2:DeleteVolume", arn("ec2", "volume/v")),
                ("ec2:DeleteNetworkInterface", arn("ec2", "network-interface/e")),
            )
            for request in (
                allowed(action, part, {**OWN_CLUSTER, "aws:ResourceTag/landbridge:launch": "lb-1"}),
                denied(action, part, {**OTHER_CLUSTER, "aws:ResourceTag/landbridge:launch": "lb-1"}),
                denied(action, part, {**OWN_CLUSTER, "aws:ResourceTag/landbridge:launch": "mine"}),
                denied(action, part, OWN_CLUSTER),
                denied(action, part),
            )
        ),
    ),
    Claim(
        ("reaper",),
        "terminates nodes of this cluster and no other instances, and writes its own log",
        (
            allowed("ec2:TerminateInstances", INSTANCE, {**OWN_CLUSTER, "aws:ResourceTag/landbridge:pool": "p5"}),
            denied("ec2:TerminateInstances", INSTANCE, OWN_CLUSTER),
            denied("ec2:TerminateInstances", INSTANCE, {**OTHER_CLUSTER, "aws:ResourceTag/landbridge:pool": "p5"}),
            allowed("ec2:DescribeInstances", "*"),
            allowed("logs:PutLogEvents", LOGS),
            denied("logs:PutLogEvents", arn("logs", "log-group:/aws/lambda/other:log-stream:x")),
            denied("logs:DeleteLogGroup", arn("logs", f"log-group:/aws/lambda/{CLUSTER}-reaper")),
            denied("ec2:RunInstances", INSTANCE, NEW_NODE),
        ),
    ),
    Claim(
        ("budget",),
        "attaches the denial of launches to the launch role, and no other policy to any role",
        (
            allowed("iam:AttachRolePolicy", LAUNCH, {"iam:PolicyARN": DENIAL}),
            allowed("iam:DetachRolePolicy", LAUNCH, {"iam:PolicyARN": DENIAL}),
            denied("iam:AttachRolePolicy", LAUNCH, {"iam:PolicyARN": "arn:aws:iam::aws:policy/AdministratorAccess"}),
            denied("iam:AttachRolePolicy", LAUNCH),
            denied("iam:AttachRolePolicy", NODE, {"iam:PolicyARN": DENIAL}),
            denied("iam:PutRolePolicy", LAUNCH),
        ),
    ),
)
