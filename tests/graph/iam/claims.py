"""Claims of docs/explanation/identity.md, each line with the requests that prove it."""

from tests.graph.iam.archive_claims import ARCHIVE, JOB_ROLES
from tests.graph.iam.claim import (
    BUCKET,
    CLASS,
    CLUSTER,
    FOREIGN_BUCKET,
    INSTANCE,
    JOB_ROLE,
    KEY,
    LAUNCH,
    NEW_NODE,
    NODE,
    ON_INSTANCE,
    OTHER_KEY,
    OTHER_SECRET,
    OWN_CLUSTER,
    PARTNER,
    PARTNER_KEY,
    PARTNER_ROLE,
    RESTRICTED,
    SCRIPTS,
    SECRET,
    SECURE,
    TO_EC2,
    Claim,
    allowed,
    denied,
)
from tests.graph.iam.launch_claims import LAUNCHES
from tests.graph.iam.sagemaker_claims import SAGEMAKER
from tests.graph.support.policy_documents import ACCOUNT, arn

ALL = ("node", "launch", "terminate", "read", "hub", "mover")
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
        ("job-internal",),
        "reads and changes no copy of MLflow's databases in its class's bucket",
        (
            denied("s3:GetObject", f"{BUCKET}/landbridge-backups/mlflow/x", SECURE),
            denied("s3:PutObject", f"{BUCKET}/landbridge-backups/mlflow/x", SECURE),
        ),
    ),
    Claim(
        JOB_ROLES,
        "changes no dataset in its class's bucket, also if its jobs may delete objects",
        (
            denied("s3:PutObject", f"{BUCKET}/datasets/files/corpus/v1/part", SECURE),
            denied("s3:PutObject", f"{PARTNER}/datasets/files/corpus/v1/part", SECURE),
            denied("s3:PutObject", f"{PARTNER}/datasets/manifests/corpus/v1.json", SECURE),
            denied("s3:PutObjectTagging", f"{PARTNER}/datasets/files/corpus/v1/part", SECURE),
            denied("s3:DeleteObject", f"{PARTNER}/datasets/objects/sha256/ab/x", SECURE),
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
    *ARCHIVE,
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
        "reads Slurm's key, the certificate of its exporters if Prometheus reads them, and no other secret",
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
    *LAUNCHES,
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
