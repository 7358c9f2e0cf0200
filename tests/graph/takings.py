"""Assumption of roles: the request of each principal, with IAM's decision."""

from dataclasses import dataclass, field

from landbridge.ops.iam.match import Context
from tests.graph.asks import CLUSTER
from tests.graph.documents import ACCOUNT, arn


@dataclass(frozen=True)
class Taking:
    """Request to assume a role: the service, the context that it gives, and the decision."""

    role: str
    service: str
    allowed: bool
    context: Context = field(default_factory=dict)


ANCHOR = arn("rolesanywhere", f"trust-anchor/{CLUSTER}")
CN = "aws:PrincipalTag/x509Subject/CN"
SITE = {"aws:SourceAccount": ACCOUNT, "aws:SourceArn": ANCHOR}
TAKING = (
    Taking("node", "ec2.amazonaws.com", True),
    Taking("node", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01"}),
    Taking("launch", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "ctl01"}),
    Taking("launch", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "mlops01"}),
    Taking("launch", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01", "aws:SourceArn": f"{ANCHOR}x"}),
    Taking("launch", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01", "aws:SourceAccount": "210987654321"}),
    Taking("launch", "rolesanywhere.amazonaws.com", False, SITE),
    Taking("launch", "ec2.amazonaws.com", False),
    Taking("terminate", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "ctl01"}),
    Taking("read", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "mlops01"}),
    Taking("hub", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "mlops01"}),
    Taking("hub", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01"}),
    Taking("mover", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "nfs01"}),
    Taking("mover", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "mlops01"}),
    Taking("reaper", "lambda.amazonaws.com", True),
    Taking("reaper", "ec2.amazonaws.com", False),
    Taking("budget", "budgets.amazonaws.com", True, {"aws:SourceAccount": ACCOUNT}),
    Taking("budget", "budgets.amazonaws.com", False, {"aws:SourceAccount": "210987654321"}),
    Taking("sagemaker", "sagemaker.amazonaws.com", True, {"aws:SourceAccount": ACCOUNT}),
    Taking("sagemaker", "sagemaker.amazonaws.com", False, {"aws:SourceAccount": "210987654321"}),
    Taking("sagemaker", "ec2.amazonaws.com", False),
    Taking("managed", "ssm.amazonaws.com", True, {"aws:SourceAccount": ACCOUNT}),
    Taking("managed", "ssm.amazonaws.com", False, {"aws:SourceAccount": "210987654321"}),
)
