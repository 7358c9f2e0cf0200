"""Claims of docs/explanation/identity.md, each line with the requests that prove it."""

from tests.graph.iam.claim import (
    BUCKET,
    CLASS,
    CLUSTER,
    DENIAL,
    FOREIGN_BUCKET,
    IMAGE,
    INSTANCE,
    JOB_ROLE,
    JOBS,
    KEY,
    LAUNCH,
    LOGS,
    NEW_NODE,
    NODE,
    ON_INSTANCE,
    OTHER_CLUSTER,
    OTHER_KEY,
    OTHER_SECRET,
    OWN_CLUSTER,
    PARTNER,
    PARTNER_KEY,
    PARTNER_ROLE,
    POOL_OF_CLUSTER,
    RESTRICTED,
    SCRIPTS,
    SECRET,
    SECURE,
    TEMPLATE,
    TO_EC2,
    TO_JOBS,
    Claim,
    ClaimRequest,
    allowed,
    denied,
    without,
)
from tests.graph.iam.sagemaker_claims import SAGEMAKER
from tests.graph.support.policy_documents import ACCOUNT, arn

ALL = ("node", "launch", "terminate", "read", "hub", "mover")
#: Roles of jobs. Jobs of the class partner may delete objects.
JOB_ROLES = ("job-internal", "job-partner")
#: Roles of the optional guardrails.
WATCHING = ("reaper", "budget")
CLAIMS = (
    Claim(
        ("hub",),
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
        ("node",),
        "boots and starts sessions of jobs, and touches no object or key of the hub besides scripts of its pools",
        (
            allowed("secretsmanager:GetSecretValue", SECRET, ON_INSTANCE),
            allowed("sts:AssumeRole", JOB_ROLE, ON_INSTANCE),
            denied("s3:GetObject", f"{BUCKET}/x", {**SECURE, **ON_INSTANCE}),
            denied("s3:PutObject", f"{BUCKET}/x", {**SECURE, **ON_INSTANCE}),
            denied("s3:DeleteObject", f"{BUCKET}/x", {**SECURE, **ON_INSTANCE}),
            denied("s3:ListBucket", BUCKET, {**SECURE, **ON_INSTANCE}),
            denied("kms:Decrypt", KEY, ON_INSTANCE),
        ),
    ),
    Claim(
        ("node",),
        "assumes the roles of jobs and no other role, and only with the credentials that EC2 gave to an instance",
        (
            allowed("sts:AssumeRole", JOB_ROLE, ON_INSTANCE),
            allowed("sts:SetSourceIdentity", PARTNER_ROLE, ON_INSTANCE),
            denied("sts:AssumeRole", JOB_ROLE),
            denied("sts:AssumeRole", LAUNCH, ON_INSTANCE),
            denied("sts:AssumeRole", NODE, ON_INSTANCE),
            denied("sts:AssumeRole", f"{JOB_ROLE}-x", ON_INSTANCE),
        ),
    ),
    Claim(
        ("node",),
        "reads exactly the scripts that its pools name (`actions`), only from an instance, and uses their keys only through S3",
        (
            allowed("s3:GetObject", f"{SCRIPTS}/setup.sh", {**SECURE, **ON_INSTANCE}),
            allowed("s3:GetObject", f"{BUCKET}/scripts/x.sh", {**SECURE, **ON_INSTANCE}),
            allowed("kms:Decrypt", KEY, {"kms:ViaService": "s3.us-east-1.amazonaws.com"}),
            denied("s3:GetObject", f"{SCRIPTS}/setup.sh", SECURE),
            denied("s3:GetObject", f"{SCRIPTS}/setup.sh.bak", {**SECURE, **ON_INSTANCE}),
            denied("s3:GetObject", f"{BUCKET}/scripts/y.sh", {**SECURE, **ON_INSTANCE}),
            denied("s3:GetObjectVersion", f"{SCRIPTS}/setup.sh", {**SECURE, **ON_INSTANCE}),
            denied("s3:PutObject", f"{SCRIPTS}/setup.sh", {**SECURE, **ON_INSTANCE}),
            denied("s3:ListBucket", SCRIPTS, {**SECURE, **ON_INSTANCE}),
            denied("kms:Decrypt", KEY, {"kms:ViaService": "secretsmanager.us-east-1.amazonaws.com"}),
            denied("kms:GenerateDataKey", KEY, {"kms:ViaService": "s3.us-east-1.amazonaws.com"}),
            denied("kms:Decrypt", PARTNER_KEY, {"kms:ViaService": "s3.us-east-1.amazonaws.com"}),
        ),
    ),
    Claim(
        ("job-internal",),
        "reads and writes objects of its class's bucket under the class's key, and deletes none",
        (
            allowed("s3:GetObject", f"{BUCKET}/x", SECURE),
            allowed("s3:PutObject", f"{BUCKET}/x", SECURE),
            allowed("s3:ListBucket", BUCKET, SECURE),
            allowed("kms:GenerateDataKey", KEY),
            denied("s3:DeleteObject", f"{BUCKET}/x", SECURE),
            denied("s3:DeleteObjectVersion", f"{BUCKET}/x", SECURE),
            denied("s3:PutObject", f"{BUCKET}/x", {**SECURE, "s3:x-amz-server-side-encryption": "AES256"}),
            denied("s3:GetObject", f"{PARTNER}/x", SECURE),
            denied("s3:PutObject", f"{PARTNER}/x", SECURE),
            denied("s3:ListBucket", PARTNER, SECURE),
            denied("kms:Decrypt", PARTNER_KEY),
        ),
    ),
    Claim(
        ("job-partner",),
        "deletes objects only if its class has `jobs_may_delete`, and never a version",
        (
            allowed("s3:DeleteObject", f"{PARTNER}/x", SECURE),
            denied("s3:DeleteObjectVersion", f"{PARTNER}/x", SECURE),
            denied("s3:DeleteObject", f"{BUCKET}/x", SECURE),
            denied("s3:GetObject", f"{BUCKET}/x", SECURE),
            denied("kms:Decrypt", KEY),
        ),
    ),
    Claim(
        JOB_ROLES,
        "has no secret, no other role, no instance, and no access to a class that must stay on-prem",
        (
            denied("secretsmanager:GetSecretValue", SECRET),
            denied("secretsmanager:GetSecretValue", SECRET, ON_INSTANCE),
            denied("sts:AssumeRole", JOB_ROLE, ON_INSTANCE),
            denied("sts:AssumeRole", PARTNER_ROLE, ON_INSTANCE),
            denied("sts:AssumeRole", NODE, ON_INSTANCE),
            denied("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
            denied("ec2:TerminateInstances", INSTANCE, OWN_CLUSTER),
            denied("iam:PassRole", NODE, TO_EC2),
            denied("iam:PutRolePolicy", JOB_ROLE),
            denied("s3:GetObject", f"{RESTRICTED}/x", wide_open=True),
            denied("s3:PutObject", f"{RESTRICTED}/x", wide_open=True),
            denied(
                "s3:GetObject", f"{FOREIGN_BUCKET}/x", {f"s3:ExistingObjectTag/{CLASS}": "restricted"}, wide_open=True
            ),
        ),
    ),
    Claim(
        ("node", "hub", "mover", *JOB_ROLES),
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
        "has no access to a class that must stay on-prem, even if the file allows it everything else",
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
            allowed("secretsmanager:GetSecretValue", SECRET, ON_INSTANCE),
            denied("secretsmanager:GetSecretValue", SECRET),
            denied("secretsmanager:PutSecretValue", SECRET, ON_INSTANCE),
            denied("secretsmanager:GetSecretValue", OTHER_SECRET, ON_INSTANCE),
        ),
    ),
    Claim(
        ("node", "read", "hub", "mover", "terminate"),
        "launches nothing, and passes no role",
        (
            denied("ec2:RunInstances", INSTANCE, NEW_NODE),
            denied("iam:PassRole", NODE, TO_EC2),
        ),
    ),
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
    """Return the table of claims of the page."""
    lines = ["| role | |", "| --- | --- |"]
    for claim in CLAIMS:
        shown = dict.fromkeys("job-CLASS" if role in JOB_ROLES else role for role in claim.roles)
        roles = "each of the first six" if claim.roles == ALL else ", ".join(f"`{role}`" for role in shown)
        lines.append(f"| {roles} | {claim.text} |")
    return "\n".join(lines)
