"""Claims of docs/explanation/identity.md, each line with the requests that prove it."""

from tests.graph.asks import (
    BUCKET,
    CLASS,
    CLUSTER,
    DENIAL,
    ELSEWHERE,
    INSTANCE,
    JOBS,
    KEY,
    LAUNCH,
    LOGS,
    NODE,
    OTHER,
    OTHER_KEY,
    OTHER_SECRET,
    OWN,
    RESTRICTED,
    SECRET,
    SECURE,
    TEMPLATE,
    TO_EC2,
    TO_JOBS,
    Ask,
    Claim,
    no,
    yes,
)
from tests.graph.documents import ACCOUNT, arn
from tests.graph.sagemaker_claims import SAGEMAKER

ALL = ("node", "launch", "terminate", "read", "hub", "mover")
#: What watches, where it is asked for.
WATCHING = ("reaper", "budget")
CLAIMS = (
    Claim(
        ("node", "hub"),
        "reads, writes and deletes objects of the hub, over TLS and under the class's own key",
        (
            yes("s3:GetObject", f"{BUCKET}/x", SECURE),
            yes("s3:PutObject", f"{BUCKET}/x", SECURE),
            yes("s3:DeleteObject", f"{BUCKET}/x", SECURE),
            yes("kms:Decrypt", KEY),
            no("s3:GetObject", f"{BUCKET}/x", {"aws:SecureTransport": "false"}),
            no("s3:PutObject", f"{BUCKET}/x", {**SECURE, "s3:x-amz-server-side-encryption-aws-kms-key-id": OTHER_KEY}),
            no("s3:PutObject", f"{BUCKET}/x", {**SECURE, "s3:x-amz-server-side-encryption": "AES256"}),
        ),
    ),
    Claim(
        ("node", "hub", "mover"),
        "changes nothing about the hub's buckets, and touches no other bucket or key",
        (
            no("s3:PutBucketPolicy", BUCKET),
            no("s3:DeleteBucket", BUCKET),
            no("s3:PutBucketVersioning", BUCKET),
            no("s3:DeleteObjectVersion", f"{BUCKET}/x"),
            no("s3:GetObject", f"{ELSEWHERE}/x", SECURE),
            no("kms:Decrypt", OTHER_KEY),
            no("kms:ScheduleKeyDeletion", KEY),
        ),
    ),
    Claim(
        ("mover",),
        "copies between the sites, and deletes nothing",
        (
            yes("s3:GetObject", f"{BUCKET}/x", SECURE),
            yes("s3:PutObject", f"{BUCKET}/x", SECURE),
            no("s3:DeleteObject", f"{BUCKET}/x", SECURE),
        ),
    ),
    Claim(
        ALL,
        "reaches nothing of a class that must stay on-prem, even if the file gives it everything besides",
        (
            no("s3:GetObject", f"{RESTRICTED}/x", wide_open=True),
            no("s3:ListBucket", RESTRICTED, wide_open=True),
            no("s3:PutObject", f"{RESTRICTED}/x", wide_open=True),
            no("s3:GetObject", f"{ELSEWHERE}/x", {f"s3:ExistingObjectTag/{CLASS}": "restricted"}, wide_open=True),
            no("s3:PutObject", f"{ELSEWHERE}/x", {f"s3:RequestObjectTag/{CLASS}": "restricted"}, wide_open=True),
            no("kms:Decrypt", OTHER_KEY, {f"aws:ResourceTag/{CLASS}": "restricted"}, wide_open=True),
            no("fsx:DescribeFileSystems", "*", {f"aws:ResourceTag/{CLASS}": "restricted"}, wide_open=True),
        ),
    ),
    Claim(
        ("node",),
        "reads Slurm's key, and no other secret",
        (
            yes("secretsmanager:GetSecretValue", SECRET),
            no("secretsmanager:PutSecretValue", SECRET),
            no("secretsmanager:GetSecretValue", OTHER_SECRET),
        ),
    ),
    Claim(
        ("node", "read", "hub", "mover", "terminate"),
        "launches nothing, and passes no role",
        (
            no("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
            no("iam:PassRole", NODE, TO_EC2),
        ),
    ),
    Claim(
        ("launch",),
        "launches only what carries this cluster's tag, from this cluster's templates",
        (
            yes("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
            no("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": "other"}),
            no("ec2:RunInstances", INSTANCE),
            yes("ec2:RunInstances", TEMPLATE, OWN),
            no("ec2:RunInstances", TEMPLATE, OTHER),
            no("ec2:RunInstances", TEMPLATE),
            yes("ec2:RunInstances", arn("ec2", "volume/v"), {"aws:RequestTag/landbridge:cluster": CLUSTER}),
            no("ec2:RunInstances", arn("ec2", "volume/v")),
            no("ec2:CreateFleet", arn("ec2", "fleet/f-1"), {"aws:RequestTag/landbridge:cluster": CLUSTER}),
        ),
    ),
    Claim(
        ("launch",),
        "passes the nodes' role, only that one, and only to EC2",
        (
            yes("iam:PassRole", NODE, TO_EC2),
            no("iam:PassRole", NODE, {"iam:PassedToService": "lambda.amazonaws.com"}),
            no("iam:PassRole", NODE),
            no("iam:PassRole", LAUNCH, TO_EC2),
            no("iam:PassRole", JOBS, TO_JOBS),
            no("iam:PassRole", JOBS, TO_EC2),
            no("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/admin", TO_EC2),
        ),
    ),
    Claim(
        ("launch",),
        "names its nodes in the launch alone, renews their leases, and adopts nothing by a tag",
        (
            yes("ec2:CreateTags", INSTANCE, {"ec2:CreateAction": "RunInstances"}),
            no("ec2:CreateTags", INSTANCE, {"ec2:CreateAction": "CreateFleet"}),
            Ask("ec2:CreateTags", INSTANCE, True, {**OWN, "aws:TagKeys": ["landbridge:lease-expires"]}),
            no("ec2:CreateTags", INSTANCE, {**OTHER, "aws:TagKeys": ["landbridge:lease-expires"]}),
            no("ec2:CreateTags", INSTANCE, {**OWN, "aws:TagKeys": ["landbridge:node"]}),
            no("ec2:CreateTags", INSTANCE, {**OWN, "aws:TagKeys": ["Name", "landbridge:lease-expires"]}),
            no("ec2:CreateTags", INSTANCE, {**OWN, "aws:TagKeys": ["landbridge:cluster"]}),
            no("ec2:CreateTags", INSTANCE, {"aws:TagKeys": ["landbridge:cluster"]}),
            no("ec2:CreateTags", INSTANCE, OWN),
        ),
    ),
    Claim(
        ("launch", "node", "read", "hub", "mover"),
        "ends nothing",
        (no("ec2:TerminateInstances", INSTANCE, OWN), no("ec2:StopInstances", INSTANCE, OWN)),
    ),
    Claim(
        ("terminate",),
        "ends instances of this cluster, and no others",
        (
            yes("ec2:TerminateInstances", INSTANCE, OWN),
            no("ec2:TerminateInstances", INSTANCE, OTHER),
            no("ec2:TerminateInstances", INSTANCE),
            no("ec2:DeleteVolume", arn("ec2", "volume/v"), OWN),
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
                yes(action, part, {**OWN, "aws:ResourceTag/landbridge:launch": "lb-1"}),
                no(action, part, {**OTHER, "aws:ResourceTag/landbridge:launch": "lb-1"}),
                no(action, part, {**OWN, "aws:ResourceTag/landbridge:launch": "mine"}),
                no(action, part, OWN),
                no(action, part),
            )
        ),
    ),
    Claim(
        ("reaper",),
        "ends nodes of this cluster, no machine that is none, and writes its own log",
        (
            yes("ec2:TerminateInstances", INSTANCE, {**OWN, "aws:ResourceTag/landbridge:pool": "p5"}),
            no("ec2:TerminateInstances", INSTANCE, OWN),
            no("ec2:TerminateInstances", INSTANCE, {**OTHER, "aws:ResourceTag/landbridge:pool": "p5"}),
            yes("ec2:DescribeInstances", "*"),
            yes("logs:PutLogEvents", LOGS),
            no("logs:PutLogEvents", arn("logs", "log-group:/aws/lambda/other:log-stream:x")),
            no("logs:DeleteLogGroup", arn("logs", f"log-group:/aws/lambda/{CLUSTER}-reaper")),
            no("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
        ),
    ),
    Claim(
        ("budget",),
        "puts the refusal of launches on the launch role, and nothing else on it or on another",
        (
            yes("iam:AttachRolePolicy", LAUNCH, {"iam:PolicyARN": DENIAL}),
            yes("iam:DetachRolePolicy", LAUNCH, {"iam:PolicyARN": DENIAL}),
            no("iam:AttachRolePolicy", LAUNCH, {"iam:PolicyARN": "arn:aws:iam::aws:policy/AdministratorAccess"}),
            no("iam:AttachRolePolicy", LAUNCH),
            no("iam:AttachRolePolicy", NODE, {"iam:PolicyARN": DENIAL}),
            no("iam:PutRolePolicy", LAUNCH),
        ),
    ),
    *SAGEMAKER,
    Claim(
        ("read",),
        "sees states and numbers, and no data, user data or secrets",
        (
            yes("ec2:DescribeInstances", "*"),
            yes("cloudwatch:GetMetricData", "*"),
            no("ec2:DescribeInstanceAttribute", INSTANCE, OWN),
            no("ec2:GetConsoleOutput", INSTANCE, OWN),
            no("s3:GetObject", f"{BUCKET}/x", SECURE),
            no("s3:ListBucket", BUCKET, SECURE),
            no("secretsmanager:GetSecretValue", SECRET),
            no("ec2:CreateTags", INSTANCE, OWN),
        ),
    ),
    Claim(
        ALL,
        "changes no role, policy, user, network or trail",
        (
            no("iam:PutRolePolicy", NODE),
            no("iam:AttachRolePolicy", NODE),
            no("iam:CreateAccessKey", f"arn:aws:iam::{ACCOUNT}:user/x"),
            no("sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/admin"),
            no("ec2:AuthorizeSecurityGroupIngress", arn("ec2", "security-group/sg-1"), OWN),
            no("ec2:ModifyInstanceAttribute", INSTANCE, OWN),
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
