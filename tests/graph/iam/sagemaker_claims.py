"""Claims of docs/explanation/identity.md about SageMaker's roles, each line with the requests that prove it."""

from landbridge.ops.iam.match import Context
from tests.graph.iam.claim import (
    BUCKET,
    CLASS,
    CLUSTER,
    FOREIGN_BUCKET,
    INSTANCE,
    JOBS,
    KEY,
    LAUNCH,
    NODE,
    OTHER_KEY,
    OWN_CLUSTER,
    PARTNER,
    PARTNER_KEY,
    RESTRICTED,
    SECRET,
    SECURE,
    TO_EC2,
    TO_JOBS,
    Claim,
    ClaimRequest,
    allowed,
    denied,
)
from tests.graph.support.policy_documents import arn

#: The role of SageMaker's jobs, and the policy of users who start them.
TRAINING = ("sagemaker-internal", "train-internal")
JOB, GROUP = arn("sagemaker", f"training-job/{CLUSTER}-x"), arn("sagemaker", f"model-package-group/{CLUSTER}-models")
VERSION, INTERFACE = arn("sagemaker", f"model-package/{CLUSTER}-models/1"), arn("ec2", "network-interface/eni-1")
OWN_JOB = {"aws:ResourceTag/landbridge:cluster": CLUSTER}
#: A job of an environment whose name continues this one's.
NEIGHBOUR_JOB, NEIGHBOUR_TAG = (
    arn("sagemaker", f"training-job/{CLUSTER}-eu-x"),
    {"aws:ResourceTag/landbridge:cluster": f"{CLUSTER}-eu"},
)
INSIDE = {
    "aws:RequestTag/landbridge:cluster": CLUSTER,
    "sagemaker:InterContainerTrafficEncryption": "true",
    "sagemaker:OutputKmsKey": KEY,
    "sagemaker:VpcSubnets": [f"{CLUSTER}-private-use1-az4-id"],
    "sagemaker:VpcSecurityGroupIds": [f"{CLUSTER}-sagemaker-internal-id"],
}


def without(key: str) -> Context:
    return {name: value for name, value in INSIDE.items() if name != key}


SAGEMAKER = (
    Claim(
        ("sagemaker-internal",),
        "reads the bucket of its class, writes below `sagemaker/` alone, and deletes nothing",
        (
            allowed("s3:GetObject", f"{BUCKET}/x", SECURE),
            allowed("s3:PutObject", f"{BUCKET}/sagemaker/x", SECURE),
            denied("s3:PutObject", f"{BUCKET}/x", SECURE),
            denied("s3:PutObject", f"{BUCKET}/sagemakers/x", SECURE),
            denied("s3:DeleteObject", f"{BUCKET}/sagemaker/x", SECURE),
            allowed("kms:Encrypt", KEY),
            denied("kms:Encrypt", OTHER_KEY),
            denied("s3:GetObject", f"{PARTNER}/x", SECURE),
            denied("s3:PutObject", f"{PARTNER}/sagemaker/x", SECURE),
            denied("kms:Decrypt", PARTNER_KEY),
            denied("s3:GetObject", f"{BUCKET}/x", {"aws:SecureTransport": "false"}),
            denied("kms:Decrypt", OTHER_KEY),
        ),
    ),
    Claim(
        ("sagemaker-internal",),
        "has interfaces in the VPC's private subnets and its own group, for SageMaker alone",
        (
            allowed("ec2:CreateNetworkInterface", arn("ec2", f"subnet/{CLUSTER}-private-use1-az4-id")),
            denied("ec2:CreateNetworkInterface", arn("ec2", "subnet/subnet-other")),
            allowed("ec2:CreateNetworkInterface", arn("ec2", f"security-group/{CLUSTER}-sagemaker-internal-id")),
            denied("ec2:CreateNetworkInterface", arn("ec2", "security-group/sg-other")),
            allowed(
                "ec2:CreateNetworkInterfacePermission",
                INTERFACE,
                {"ec2:Vpc": arn("ec2", f"vpc/{CLUSTER}-id"), "ec2:AuthorizedService": "sagemaker.amazonaws.com"},
            ),
            denied("ec2:CreateNetworkInterfacePermission", INTERFACE, {"ec2:Vpc": arn("ec2", f"vpc/{CLUSTER}-id")}),
            allowed("ec2:DeleteNetworkInterface", INTERFACE, {"ec2:Vpc": arn("ec2", f"vpc/{CLUSTER}-id")}),
            denied("ec2:DeleteNetworkInterface", INTERFACE, {"ec2:Vpc": arn("ec2", "vpc/vpc-other")}),
            denied("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
        ),
    ),
    Claim(
        TRAINING,
        "has no access to a class that must stay on-prem, nor to instances, secrets or roles",
        (
            denied("s3:GetObject", f"{RESTRICTED}/x", wide_open=True),
            denied(
                "s3:PutObject", f"{FOREIGN_BUCKET}/x", {f"s3:RequestObjectTag/{CLASS}": "restricted"}, wide_open=True
            ),
            denied("ec2:TerminateInstances", INSTANCE, OWN_CLUSTER),
            denied("secretsmanager:GetSecretValue", SECRET),
            denied("iam:PassRole", NODE, TO_EC2),
            denied("iam:PutRolePolicy", JOBS),
        ),
    ),
    Claim(
        ("train-internal",),
        "starts jobs inside the VPC, encrypted between containers and under the key of the class, and no others",
        (
            ClaimRequest("sagemaker:CreateTrainingJob", JOB, True, INSIDE),
            *(ClaimRequest("sagemaker:CreateTrainingJob", JOB, False, without(key)) for key in INSIDE),
            denied("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:VpcSubnets": ["subnet-other"]}),
            denied("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:VpcSecurityGroupIds": ["sg-other"]}),
            denied("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:OutputKmsKey": OTHER_KEY}),
            denied("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:OutputKmsKey": PARTNER_KEY}),
            denied("sagemaker:CreateTrainingJob", arn("sagemaker", "training-job/other-x"), INSIDE),
            allowed("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:KeepAlivePeriod": "0"}),
            denied("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:KeepAlivePeriod": "3600"}),
            allowed("sagemaker:StopTrainingJob", JOB, OWN_JOB),
            denied("sagemaker:StopTrainingJob", NEIGHBOUR_JOB, NEIGHBOUR_TAG),
            denied("sagemaker:DescribeTrainingJob", NEIGHBOUR_JOB, NEIGHBOUR_TAG),
            denied("sagemaker:ListTags", NEIGHBOUR_JOB, NEIGHBOUR_TAG),
            denied("sagemaker:StopTrainingJob", arn("sagemaker", "training-job/other-x")),
            allowed("sagemaker:ListTrainingJobs", "*"),
            allowed("sagemaker:ListTags", JOB, OWN_JOB),
            denied("sagemaker:ListTags", arn("sagemaker", "training-job/other-x")),
            denied("sagemaker:CreateProcessingJob", arn("sagemaker", f"processing-job/{CLUSTER}-x"), INSIDE),
        ),
    ),
    Claim(
        ("train-internal",),
        "gives jobs the role of the class, only that one, and only to SageMaker",
        (
            allowed("iam:PassRole", JOBS, TO_JOBS),
            denied("iam:PassRole", JOBS, TO_EC2),
            denied("iam:PassRole", JOBS.replace("internal", "partner"), TO_JOBS),
            denied("iam:PassRole", NODE, TO_JOBS),
            denied("iam:PassRole", LAUNCH, TO_JOBS),
        ),
    ),
    Claim(
        ("train-internal",),
        "registers versions of models in this cluster's groups, and approves and removes none",
        (
            allowed("sagemaker:CreateModelPackage", VERSION),
            allowed("sagemaker:CreateModelPackage", GROUP),
            allowed("sagemaker:ListModelPackages", GROUP),
            denied("sagemaker:UpdateModelPackage", VERSION),
            denied("sagemaker:DeleteModelPackage", VERSION),
            denied("sagemaker:DeleteModelPackageGroup", GROUP),
            denied("sagemaker:CreateModelPackage", arn("sagemaker", "model-package-group/other")),
            allowed("sagemaker:AddTags", JOB, {"sagemaker:TaggingAction": "CreateTrainingJob"}),
            denied("sagemaker:AddTags", JOB),
        ),
    ),
    Claim(
        ("approve-models",),
        "approves model packages of this cluster's groups, and neither registers one nor starts a job",
        (
            allowed("sagemaker:UpdateModelPackage", VERSION),
            allowed("sagemaker:ListModelPackages", GROUP),
            allowed("sagemaker:DescribeModelPackage", VERSION),
            denied("sagemaker:UpdateModelPackage", arn("sagemaker", "model-package/other/1")),
            denied("sagemaker:CreateModelPackage", GROUP),
            denied("sagemaker:CreateTrainingJob", JOB, INSIDE),
            denied("iam:PassRole", JOBS, TO_JOBS),
        ),
    ),
)
