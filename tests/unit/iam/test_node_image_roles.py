"""Permissions of the image builder and of Image Builder, evaluated from the policy documents."""

import pytest

from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.node_image.iam_roles import ImageBuildResources, builder_policy, prune_policy

ARNS = ArnContext("lab", "aws", "us-east-1", "123456789012")
ARCHIVE = "arn:aws:s3:::lab-node-image-123456789012/roles/abc.tar"
LOGS = "arn:aws:logs:us-east-1:123456789012:log-group:/aws/imagebuilder/lab-node"
COMPONENT = "arn:aws:imagebuilder:us-east-1:123456789012:component/lab-node/1.0.7/*"
BUILDER = Policies((Document.of("builder", builder_policy(ARNS, ImageBuildResources(ARCHIVE, LOGS, COMPONENT))),))
PRUNE = Policies((Document.of("prune", prune_policy(ARNS, "lab-node")),))
ROLE = "arn:aws:iam::123456789012:role/lab-node-build"
IN_REGION = {"aws:RequestedRegion": "us-east-1"}
INSTANCE = "arn:aws:ec2:us-east-1:123456789012:instance/i-1"
IMAGE, SNAPSHOT = "arn:aws:ec2:us-east-1::image/ami-1", "arn:aws:ec2:us-east-1::snapshot/snap-1"
OWN_TAGS = {"aws:ResourceTag/CreatedBy": "EC2 Image Builder", "aws:ResourceTag/landbridge:cluster": "lab"}


@pytest.mark.parametrize(
    ("action", "resource", "context", "allowed"),
    [
        ("s3:GetObject", ARCHIVE, {}, True),
        ("s3:GetObject", "arn:aws:s3:::lab-node-image-123456789012/logs/x", {}, False),
        ("s3:GetObject", "arn:aws:s3:::lab-internal-123456789012/data", {}, False),
        ("s3:PutObject", ARCHIVE, {}, False),
        ("s3:GetObject", "arn:aws:s3:::ec2imagebuilder-managed-resources-us-east-1-prod/components/awstoe", {}, True),
        ("s3:PutObject", "arn:aws:s3:::ec2imagebuilder-managed-resources-us-east-1-prod/components/awstoe", {}, False),
        ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-1:123456789012:secret:lab/slurm-key-x", {}, False),
        ("ssm:GetParameter", "arn:aws:ssm:us-east-1:123456789012:parameter/x", IN_REGION, False),
        ("imagebuilder:GetComponent", COMPONENT.replace("*", "1"), {}, True),
        ("imagebuilder:GetComponent", "arn:aws:imagebuilder:us-east-1:123456789012:component/other/1.0.0/1", {}, False),
        ("logs:PutLogEvents", f"{LOGS}:log-stream:1.0.7/1", {}, True),
        ("logs:PutLogEvents", "arn:aws:logs:us-east-1:123456789012:log-group:/lab:log-stream:x", {}, False),
        ("ssmmessages:OpenDataChannel", "*", IN_REGION, True),
        ("ssmmessages:OpenDataChannel", "*", {"aws:RequestedRegion": "eu-west-1"}, False),
        ("ssm:UpdateInstanceInformation", INSTANCE, {}, True),
        ("ec2:RunInstances", INSTANCE, {}, False),
        ("iam:PassRole", ROLE, {}, False),
        ("sts:AssumeRole", ROLE, {}, False),
    ],
)  # fmt: skip
def test_the_builder(action: str, resource: str, context: dict[str, str], allowed: bool) -> None:
    assert evaluate(Request(ROLE, action, resource, context), BUILDER).allowed is allowed


@pytest.mark.parametrize(
    ("action", "resource", "context", "allowed"),
    [
        ("ec2:DescribeImages", "*", {}, True),
        ("ec2:DeregisterImage", IMAGE, OWN_TAGS, True),
        ("ec2:DeregisterImage", IMAGE, {**OWN_TAGS, "aws:ResourceTag/landbridge:cluster": "other"}, False),
        ("ec2:DeregisterImage", IMAGE, {"aws:ResourceTag/landbridge:cluster": "lab"}, False),
        ("ec2:DeleteSnapshot", SNAPSHOT, OWN_TAGS, True),
        ("ec2:DeleteSnapshot", SNAPSHOT, {}, False),
        ("imagebuilder:DeleteImage", "arn:aws:imagebuilder:us-east-1:123456789012:image/lab-node/1.0.7/1", {}, True),
        ("imagebuilder:DeleteImage", "arn:aws:imagebuilder:us-east-1:123456789012:image/lab-node2/1.0.7/1", {}, False),
        ("imagebuilder:DeleteImagePipeline", "arn:aws:imagebuilder:us-east-1:123456789012:image-pipeline/lab-node", {}, False),
        ("ec2:TerminateInstances", INSTANCE, OWN_TAGS, False),
    ],
)  # fmt: skip
def test_the_role_that_removes_old_images(action: str, resource: str, context: dict[str, str], allowed: bool) -> None:
    assert evaluate(Request(ROLE, action, resource, context), PRUNE).allowed is allowed
