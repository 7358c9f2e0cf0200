"""Claims of docs/explanation/identity.md, each line with the requests that prove it."""

from tests.graph.iam.claim import (
    BUCKET,
    CLASS,
    CLUSTER,
    DENIAL,
    FOREIGN_BUCKET,
    INSTANCE,
    JOBS,
    KEY,
    LAUNCH,
    LOGS,
    NODE,
    OTHER_CLUSTER,
    OTHER_KEY,
    OTHER_SECRET,
    OWN_CLUSTER,
    RESTRICTED,
    SECRET,
    SECURE,
    TEMPLATE,
    TO_EC2,
    TO_JOBS,
    Claim,
    ClaimRequest,
    allowed,
    denied,
)
from tests.graph.iam.sagemaker_claims import SAGEMAKER
from tests.graph.support.policy_documents import ACCOUNT, arn

ALL = ("node", "launch", "terminate", "read", "hub", "mover")
#: Roles of the optional guardrails.
WATCHING = ("reaper", "budget")
CLAIMS = (
    Claim(
        ("node", "hub"),
        "reads, writes and deletes objects of the hub, over TLS and under the class's own key",
        (
            allowed("s3:GetObject", f"{BUCKET}/x", SECURE),
            allowed("s3:PutObject", f"{BUCKET}/x", SECURE),
            allowed("s3:DeleteObject", f"{BUCKET}/x", SECURE),
            allowed("kms:Decrypt", KEY),
            denied("s3:GetObject", f"{BUCKET}/x", {"aws:SecureTransport": "false"}),
            denied(
                "s3:PutObject", f"{BUCKET}/x", {**SECURE, "s3:x-amz-server-side-encryption-aws-kms-key-id": OTHER_KEY}
            ),
            denied("s3:PutObject", f"{BUCKET}/x", {**SECURE, "s3:x-amz-server-side-encryption": "AES256"}),
        ),
    ),
    Claim(
        ("node", "hub", "mover"),
        "changes nothing about the hub's buckets, and touches no other bucket or key",
        (
            denied("s3:PutBucketPolicy", BUCKET),
            denied("s3:DeleteBucket", BUCKET),
            denied("s3:PutBucketVersioning", BUCKET),
            denied("s3:DeleteObjectVersion", f"{BUCKET}/x"),
            denied("s3:GetObject", f"{FOREIGN_BUCKET}/x", SECURE),
            denied("kms:Decrypt", OTHER_KEY),
            denied("kms:ScheduleKeyDeletion", KEY),
        ),
    ),
    Claim(
        ("mover",),
        "copies between the sites, and deletes nothing",
        (
            allowed("s3:GetObject", f"{BUCKET}/x", SECURE),
            allowed("s3:PutObject", f"{BUCKET}/x", SECURE),
            denied("s3:DeleteObject", f"{BUCKET}/x", SECURE),
        ),
    ),
    Claim(
        ALL,
        "reaches nothing of a class that must stay on-prem, even if the file gives it everything besides",
        (
            denied("s3:GetObject", f"{RESTRICTED}/x", wide_open=True),
            denied("s3:ListBucket", RESTRICTED, wide_open=True),
            denied("s3:PutObject", f"{RESTRICTED}/x", wide_open=True),
            denied(
                "s3:GetObject", f"{FOREIGN_BUCKET}/x", {f"s3:ExistingObjectTag/{CLASS}": "restricted"}, wide_open=True
            ),
            denied(
                "s3:PutObject", f"{FOREIGN_BUCKET}/x", {f"s3:RequestObjectTag/{CLASS}": "restricted"}, wide_open=True
            ),
            denied("kms:Decrypt", OTHER_KEY, {f"aws:ResourceTag/{CLASS}": "restricted"}, wide_open=True),
            denied("fsx:DescribeFileSystems", "*", {f"aws:ResourceTag/{CLASS}": "restricted"}, wide_open=True),
        ),
    ),
    Claim(
        ("node",),
        "reads Slurm's key, and no other secret",
        (
            allowed("secretsmanager:GetSecretValue", SECRET),
            denied("secretsmanager:PutSecretValue", SECRET),
            denied("secretsmanager:GetSecretValue", OTHER_SECRET),
        ),
    ),
    Claim(
        ("node", "read", "hub", "mover", "terminate"),
        "launches nothing, and passes no role",
        (
            denied("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
            denied("iam:PassRole", NODE, TO_EC2),
        ),
    ),
    Claim(
        ("launch",),
        "launches only what carries this cluster's tag, from this cluster's templates",
        (
            allowed("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
            denied("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": "other"}),
            denied("ec2:RunInstances", INSTANCE),
            allowed("ec2:RunInstances", TEMPLATE, OWN_CLUSTER),
            denied("ec2:RunInstances", TEMPLATE, OTHER_CLUSTER),
            denied("ec2:RunInstances", TEMPLATE),
            allowed("ec2:RunInstances", arn("ec2", "volume/v"), {"aws:RequestTag/landbridge:cluster": CLUSTER}),
            denied("ec2:RunInstances", arn("ec2", "volume/v")),
            denied("ec2:CreateFleet", arn("ec2", "fleet/f-1"), {"aws:RequestTag/landbridge:cluster": CLUSTER}),
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
        "names its nodes in the launch alone, renews their leases, and adopts nothing by a tag",
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
        "ends nothing",
        (denied("ec2:TerminateInstances", INSTANCE, OWN_CLUSTER), denied("ec2:StopInstances", INSTANCE, OWN_CLUSTER)),
    ),
    Claim(
        ("terminate",),
        "ends instances of this cluster, and no others",
        (
            allowed("ec2:TerminateInstances", INSTANCE, OWN_CLUSTER),
            denied("ec2:TerminateInstances", INSTANCE, OTHER_CLUSTER),
            denied("ec2:TerminateInstances", INSTANCE),
            denied("ec2:DeleteVolume", arn("ec2", "volume/v"), OWN_CLUSTER),
        ),
    ),
    Claim(
        ("terminate",),
        "deletes volumes and interfaces that a launch of this cluster made, and no others",
        tuple(
            one
            for action, part in (
                ("ec2:DeleteVolume", arn("ec2", "volume/v")),
                ("ec2:DeleteNetworkInterface", arn("ec2", "network-interface/e")),
            )
            for one in (
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
        "ends nodes of this cluster, no machine that is none, and writes its own log",
        (
            allowed("ec2:TerminateInstances", INSTANCE, {**OWN_CLUSTER, "aws:ResourceTag/landbridge:pool": "p5"}),
            denied("ec2:TerminateInstances", INSTANCE, OWN_CLUSTER),
            denied("ec2:TerminateInstances", INSTANCE, {**OTHER_CLUSTER, "aws:ResourceTag/landbridge:pool": "p5"}),
            allowed("ec2:DescribeInstances", "*"),
            allowed("logs:PutLogEvents", LOGS),
            denied("logs:PutLogEvents", arn("logs", "log-group:/aws/lambda/other:log-stream:x")),
            denied("logs:DeleteLogGroup", arn("logs", f"log-group:/aws/lambda/{CLUSTER}-reaper")),
            denied("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
        ),
    ),
    Claim(
        ("budget",),
        "puts the refusal of launches on the launch role, and nothing else on it or on another",
        (
            allowed("iam:AttachRolePolicy", LAUNCH, {"iam:PolicyARN": DENIAL}),
            allowed("iam:DetachRolePolicy", LAUNCH, {"iam:PolicyARN": DENIAL}),
            denied("iam:AttachRolePolicy", LAUNCH, {"iam:PolicyARN": "arn:aws:iam::aws:policy/AdministratorAccess"}),
            denied("iam:AttachRolePolicy", LAUNCH),
            denied("iam:AttachRolePolicy", NODE, {"iam:PolicyARN": DENIAL}),
            denied("iam:PutRolePolicy", LAUNCH),
        ),
    ),
    *SAGEMAKER,
    Claim(
        ("read",),
        "sees states and numbers, and no data, user data or secrets",
        (
            allowed("ec2:DescribeInstances", "*"),
            allowed("cloudwatch:GetMetricData", "*"),
            denied("ec2:DescribeInstanceAttribute", INSTANCE, OWN_CLUSTER),
            denied("ec2:GetConsoleOutput", INSTANCE, OWN_CLUSTER),
            denied("s3:GetObject", f"{BUCKET}/x", SECURE),
            denied("s3:ListBucket", BUCKET, SECURE),
            denied("secretsmanager:GetSecretValue", SECRET),
            denied("ec2:CreateTags", INSTANCE, OWN_CLUSTER),
        ),
    ),
    Claim(
        ALL,
        "changes no role, policy, user, network or trail",
        (
            denied("iam:PutRolePolicy", NODE),
            denied("iam:AttachRolePolicy", NODE),
            denied("iam:CreateAccessKey", f"arn:aws:iam::{ACCOUNT}:user/x"),
            denied("sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/admin"),
            denied("ec2:AuthorizeSecurityGroupIngress", arn("ec2", "security-group/sg-1"), OWN_CLUSTER),
            denied("ec2:ModifyInstanceAttribute", INSTANCE, OWN_CLUSTER),
        ),
    ),
)


def table() -> str:
    """The claims as the page has them."""
    lines = ["| role | |", "| --- | --- |"]
    for claim in CLAIMS:
        who = "each of the first six" if claim.roles == ALL else ", ".join(f"`{role}`" for role in claim.roles)
        lines.append(f"| {who} | {claim.text} |")
    return "\n".join(lines)
