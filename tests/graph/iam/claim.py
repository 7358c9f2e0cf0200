"""Claim of docs/explanation/identity.md: a sentence about roles, and the requests that prove it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.ops.iam.match import Context
from tests.graph.support.policy_documents import ACCOUNT, arn

CLUSTER = "variant"
OWN_CLUSTER = {"aws:ResourceTag/landbridge:cluster": CLUSTER}
#: Resource of a pool of this cluster: a node, its launch template, its security group.
POOL_OF_CLUSTER = {**OWN_CLUSTER, "aws:ResourceTag/landbridge:pool": "p5"}
OTHER_CLUSTER = {"aws:ResourceTag/landbridge:cluster": "other"}
BUCKET = f"arn:aws:s3:::{CLUSTER}-internal-{ACCOUNT}"
RESTRICTED = f"arn:aws:s3:::{CLUSTER}-restricted-{ACCOUNT}"
#: Bucket and key of another class in AWS, whose jobs may delete objects.
PARTNER, PARTNER_KEY = f"arn:aws:s3:::{CLUSTER}-partner-{ACCOUNT}", arn("kms", f"key/{CLUSTER}-partner")
#: Bucket with the script of a pool.
SCRIPTS = "arn:aws:s3:::acme-scripts"
FOREIGN_BUCKET = "arn:aws:s3:::foreign-bucket"
KEY, OTHER_KEY = arn("kms", f"key/{CLUSTER}-internal"), arn("kms", "key/other")
SECRET, OTHER_SECRET = (
    arn("secretsmanager", f"secret:{CLUSTER}/slurm-key-AbCdEf"),
    arn("secretsmanager", "secret:x-AbCdEf"),
)
IMAGE = "arn:aws:ec2:us-east-1::image/ami-1"
INSTANCE, TEMPLATE = arn("ec2", "instance/i-1"), arn("ec2", "launch-template/lt-1")
#: Keys of a new instance that is launched from a launch template.
NEW_NODE = {
    "aws:RequestTag/landbridge:cluster": CLUSTER,
    "aws:RequestTag/landbridge:pool": "p5",
    "ec2:InstanceType": "p5.48xlarge",
    "ec2:LaunchTemplate": TEMPLATE,
}
LOGS = arn("logs", f"log-group:/aws/lambda/{CLUSTER}-reaper:log-stream:x")
DENIAL = f"arn:aws:iam::{ACCOUNT}:policy/{CLUSTER}-no-launches"
NODE, LAUNCH = f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-node", f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-launch"
JOBS, TO_JOBS = (
    f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-sagemaker-internal",
    {"iam:PassedToService": "sagemaker.amazonaws.com"},
)
JOB_ROLE, PARTNER_ROLE = (f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-job-{name}" for name in ("internal", "partner"))
#: Context of the credentials that EC2 delivers to an instance.
ON_INSTANCE = {"ec2:SourceInstanceARN": INSTANCE}
TO_EC2 = {"iam:PassedToService": "ec2.amazonaws.com"}
SECURE = {"aws:SecureTransport": "true"}
#: Upload that replaces no object.
NEW_OBJECT = {**SECURE, "s3:if-none-match": "*", "s3:ObjectCreationOperation": "true"}
#: Beginning of an upload in parts, and a part: they create no object, and have no condition.
PART = {**SECURE, "s3:ObjectCreationOperation": "false"}
VIA_S3 = {"kms:ViaService": "s3.us-east-1.amazonaws.com"}
CLASS = "landbridge:data-class"


@dataclass(frozen=True)
class ClaimRequest:
    """Request and the expected decision of IAM. With `wide_open` the role also has a policy that allows everything."""

    action: str
    resource: str
    allowed: bool
    context: Context = field(default_factory=dict)
    wide_open: bool = False


@dataclass(frozen=True)
class Claim:
    """Row of the table, with the roles that it is true of."""

    roles: tuple[str, ...]
    text: str
    requests: tuple[ClaimRequest, ...]


def without(context: Mapping[str, str], key: str) -> dict[str, str]:
    """Return the context of a request that has no such key."""
    return {other: value for other, value in context.items() if other != key}


def allowed(action: str, resource: str, context: Mapping[str, str] | None = None) -> ClaimRequest:
    return ClaimRequest(action, resource, True, context or {})


def denied(action: str, resource: str, context: Context | None = None, *, wide_open: bool = False) -> ClaimRequest:
    return ClaimRequest(action, resource, False, context or {}, wide_open)
