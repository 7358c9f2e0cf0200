"""Claims of docs/explanation/identity.md about SageMaker's roles, each line with the requests that prove it."""

from landbridge.ops.iam.match import Context
from tests.graph.asks import (
    BUCKET,
    CLASS,
    CLUSTER,
    ELSEWHERE,
    INSTANCE,
    JOBS,
    KEY,
    LAUNCH,
    NODE,
    OTHER_KEY,
    OWN,
    RESTRICTED,
    SECRET,
    SECURE,
    TO_EC2,
    TO_JOBS,
    Ask,
    Claim,
    no,
    yes,
)
from tests.graph.documents import arn

#: SageMaker's: the role of its jobs, and the policy of whoever starts them.
TRAINING = ("sagemaker", "train")
JOB, GROUP = arn("sagemaker", f"training-job/{CLUSTER}-x"), arn("sagemaker", f"model-package-group/{CLUSTER}-models")
VERSION, INTERFACE = arn("sagemaker", f"model-package/{CLUSTER}-models/1"), arn("ec2", "network-interface/eni-1")
INSIDE = {
    "aws:RequestTag/landbridge:cluster": CLUSTER,
    "sagemaker:InterContainerTrafficEncryption": "true",
    "sagemaker:OutputKmsKey": KEY,
    "sagemaker:VpcSubnets": [f"{CLUSTER}-private-use1-az4-id"],
    "sagemaker:VpcSecurityGroupIds": [f"{CLUSTER}-sagemaker-id"],
}


def without(key: str) -> Context:
    return {name: value for name, value in INSIDE.items() if name != key}


SAGEMAKER = (
    Claim(
        ("sagemaker",),
        "reads the hub, writes below `sagemaker/` alone, and deletes nothing",
        (
            yes("s3:GetObject", f"{BUCKET}/x", SECURE),
            yes("s3:PutObject", f"{BUCKET}/sagemaker/x", SECURE),
            no("s3:PutObject", f"{BUCKET}/x", SECURE),
            no("s3:PutObject", f"{BUCKET}/sagemakers/x", SECURE),
            no("s3:DeleteObject", f"{BUCKET}/sagemaker/x", SECURE),
            yes("kms:Encrypt", KEY),
            no("kms:Encrypt", OTHER_KEY),
            no("s3:GetObject", f"{BUCKET}/x", {"aws:SecureTransport": "false"}),
            no("kms:Decrypt", OTHER_KEY),
        ),
    ),
    Claim(
        ("sagemaker",),
        "has interfaces in the VPC's private subnets and its own group, lent to SageMaker alone",
        (
            yes("ec2:CreateNetworkInterface", arn("ec2", f"subnet/{CLUSTER}-private-use1-az4-id")),
            no("ec2:CreateNetworkInterface", arn("ec2", "subnet/subnet-other")),
            yes("ec2:CreateNetworkInterface", arn("ec2", f"security-group/{CLUSTER}-sagemaker-id")),
            no("ec2:CreateNetworkInterface", arn("ec2", "security-group/sg-other")),
            yes(
                "ec2:CreateNetworkInterfacePermission",
                INTERFACE,
                {"ec2:Vpc": arn("ec2", f"vpc/{CLUSTER}-id"), "ec2:AuthorizedService": "sagemaker.amazonaws.com"},
            ),
            no("ec2:CreateNetworkInterfacePermission", INTERFACE, {"ec2:Vpc": arn("ec2", f"vpc/{CLUSTER}-id")}),
            yes("ec2:DeleteNetworkInterface", INTERFACE, {"ec2:Vpc": arn("ec2", f"vpc/{CLUSTER}-id")}),
            no("ec2:DeleteNetworkInterface", INTERFACE, {"ec2:Vpc": arn("ec2", "vpc/vpc-other")}),
            no("ec2:RunInstances", INSTANCE, {"aws:RequestTag/landbridge:cluster": CLUSTER}),
        ),
    ),
    Claim(
        TRAINING,
        "reaches nothing of a class that must stay on-prem, and no instance, secret or role",
        (
            no("s3:GetObject", f"{RESTRICTED}/x", wide_open=True),
            no("s3:PutObject", f"{ELSEWHERE}/x", {f"s3:RequestObjectTag/{CLASS}": "restricted"}, wide_open=True),
            no("ec2:TerminateInstances", INSTANCE, OWN),
            no("secretsmanager:GetSecretValue", SECRET),
            no("iam:PassRole", NODE, TO_EC2),
            no("iam:PutRolePolicy", JOBS),
        ),
    ),
    Claim(
        ("train",),
        "starts jobs inside the VPC, encrypted between containers and under a key of the hub, and no others",
        (
            Ask("sagemaker:CreateTrainingJob", JOB, True, INSIDE),
            *(Ask("sagemaker:CreateTrainingJob", JOB, False, without(key)) for key in INSIDE),
            no("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:VpcSubnets": ["subnet-other"]}),
            no("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:VpcSecurityGroupIds": ["sg-other"]}),
            no("sagemaker:CreateTrainingJob", JOB, {**INSIDE, "sagemaker:OutputKmsKey": OTHER_KEY}),
            no("sagemaker:CreateTrainingJob", arn("sagemaker", "training-job/other-x"), INSIDE),
            yes("sagemaker:StopTrainingJob", JOB),
            no("sagemaker:StopTrainingJob", arn("sagemaker", "training-job/other-x")),
            no("sagemaker:CreateProcessingJob", arn("sagemaker", f"processing-job/{CLUSTER}-x"), INSIDE),
        ),
    ),
    Claim(
        ("train",),
        "gives jobs their role, only that one, and only to SageMaker",
        (
            yes("iam:PassRole", JOBS, TO_JOBS),
            no("iam:PassRole", JOBS, TO_EC2),
            no("iam:PassRole", NODE, TO_JOBS),
            no("iam:PassRole", LAUNCH, TO_JOBS),
        ),
    ),
    Claim(
        ("train",),
        "registers versions of models in this cluster's groups, and approves and removes none",
        (
            yes("sagemaker:CreateModelPackage", VERSION),
            yes("sagemaker:CreateModelPackage", GROUP),
            yes("sagemaker:ListModelPackages", GROUP),
            no("sagemaker:UpdateModelPackage", VERSION),
            no("sagemaker:DeleteModelPackage", VERSION),
            no("sagemaker:DeleteModelPackageGroup", GROUP),
            no("sagemaker:CreateModelPackage", arn("sagemaker", "model-package-group/other")),
            yes("sagemaker:AddTags", JOB, {"sagemaker:TaggingAction": "CreateTrainingJob"}),
            no("sagemaker:AddTags", JOB),
        ),
    ),
)
