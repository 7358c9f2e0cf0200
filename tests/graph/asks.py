"""A line of identity.md, the requests that prove it, and what they are about."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.ops.iam.match import Context
from tests.graph.documents import ACCOUNT, arn

CLUSTER = "variant"
OWN = {"aws:ResourceTag/landbridge:cluster": CLUSTER}
OTHER = {"aws:ResourceTag/landbridge:cluster": "other"}
BUCKET = f"arn:aws:s3:::{CLUSTER}-internal-{ACCOUNT}"
RESTRICTED = f"arn:aws:s3:::{CLUSTER}-restricted-{ACCOUNT}"
ELSEWHERE = "arn:aws:s3:::somebody-s"
KEY, OTHER_KEY = arn("kms", f"key/{CLUSTER}-internal"), arn("kms", "key/other")
SECRET, OTHER_SECRET = (
    arn("secretsmanager", f"secret:{CLUSTER}/slurm-key-AbCdEf"),
    arn("secretsmanager", "secret:x-AbCdEf"),
)
INSTANCE, TEMPLATE = arn("ec2", "instance/i-1"), arn("ec2", "launch-template/lt-1")
LOGS = arn("logs", f"log-group:/aws/lambda/{CLUSTER}-reaper:log-stream:x")
DENIAL = f"arn:aws:iam::{ACCOUNT}:policy/{CLUSTER}-no-launches"
NODE, LAUNCH = f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-node", f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-launch"
JOBS, TO_JOBS = f"arn:aws:iam::{ACCOUNT}:role/{CLUSTER}-sagemaker", {"iam:PassedToService": "sagemaker.amazonaws.com"}
TO_EC2 = {"iam:PassedToService": "ec2.amazonaws.com"}
SECURE = {"aws:SecureTransport": "true"}
CLASS = "landbridge:data-class"


@dataclass(frozen=True)
class Ask:
    """One request, and what IAM must say. `more` is allowed by what the file gives nodes besides, to try to undo a refusal."""

    action: str
    resource: str
    allowed: bool
    context: Context = field(default_factory=dict)
    wide_open: bool = False


@dataclass(frozen=True)
class Claim:
    """A line of the table. `roles` are those that it holds for."""

    roles: tuple[str, ...]
    text: str
    asks: tuple[Ask, ...]


def yes(action: str, resource: str, context: Mapping[str, str] | None = None) -> Ask:
    return Ask(action, resource, True, context or {})


def no(action: str, resource: str, context: Context | None = None, *, wide_open: bool = False) -> Ask:
    return Ask(action, resource, False, context or {}, wide_open)
