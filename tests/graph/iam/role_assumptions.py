"""Assumption of roles: the request of each principal, with IAM's decision."""

from dataclasses import dataclass, field

from landbridge.ops.iam.match import Context
from tests.graph.iam.claim import CLUSTER, LAUNCH, NODE, ON_INSTANCE, PARTNER_ROLE
from tests.graph.support.policy_documents import ACCOUNT, arn


@dataclass(frozen=True)
class RoleAssumption:
    """Request to assume a role: the service or role that asks, the context, and the decision."""

    role: str
    principal: str
    allowed: bool
    context: Context = field(default_factory=dict)


ANCHOR = arn("rolesanywhere", f"trust-anchor/{CLUSTER}")
CN = "aws:PrincipalTag/x509Subject/CN"
SITE = {"aws:SourceAccount": ACCOUNT, "aws:SourceArn": ANCHOR}
FOR_JOB = {"sts:RoleSessionName": "job-7"}
ROLE_ASSUMPTIONS = (
    RoleAssumption("job-internal", NODE, True, {**FOR_JOB, **ON_INSTANCE}),
    RoleAssumption("job-internal", NODE, False, FOR_JOB),
    RoleAssumption("job-internal", NODE, False, {"sts:RoleSessionName": "root", **ON_INSTANCE}),
    RoleAssumption("job-internal", NODE, False, ON_INSTANCE),
    RoleAssumption("job-internal", LAUNCH, False, {**FOR_JOB, **ON_INSTANCE}),
    RoleAssumption("job-internal", PARTNER_ROLE, False, {**FOR_JOB, **ON_INSTANCE}),
    RoleAssumption("job-internal", "ec2.amazonaws.com", False),
    RoleAssumption("job-internal", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "dgx01"}),
    RoleAssumption("job-internal", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01"}),
    # The class partner may not be on-prem.
    RoleAssumption("job-partner", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "dgx01"}),
    RoleAssumption("node", "ec2.amazonaws.com", True),
    RoleAssumption("node", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01"}),
    RoleAssumption("launch", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "ctl01"}),
    RoleAssumption("launch", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "mlops01"}),
    RoleAssumption(
        "launch", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01", "aws:SourceArn": f"{ANCHOR}x"}
    ),
    RoleAssumption(
        "launch", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01", "aws:SourceAccount": "210987654321"}
    ),
    RoleAssumption("launch", "rolesanywhere.amazonaws.com", False, SITE),
    RoleAssumption("launch", "ec2.amazonaws.com", False),
    RoleAssumption("terminate", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "ctl01"}),
    RoleAssumption("read", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "mlops01"}),
    RoleAssumption("hub", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "mlops01"}),
    RoleAssumption("hub", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "ctl01"}),
    RoleAssumption("mover", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "nfs01"}),
    RoleAssumption("mover", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "mlops01"}),
    RoleAssumption("archive", "rolesanywhere.amazonaws.com", True, {**SITE, CN: "ctl01"}),
    RoleAssumption("archive", "rolesanywhere.amazonaws.com", False, {**SITE, CN: "mlops01"}),
    RoleAssumption("reaper", "lambda.amazonaws.com", True),
    RoleAssumption("reaper", "ec2.amazonaws.com", False),
    RoleAssumption("budget", "budgets.amazonaws.com", True, {"aws:SourceAccount": ACCOUNT}),
    RoleAssumption("budget", "budgets.amazonaws.com", False, {"aws:SourceAccount": "210987654321"}),
    RoleAssumption("sagemaker-internal", "sagemaker.amazonaws.com", True, {"aws:SourceAccount": ACCOUNT}),
    RoleAssumption("sagemaker-internal", "sagemaker.amazonaws.com", False, {"aws:SourceAccount": "210987654321"}),
    RoleAssumption("sagemaker-internal", "ec2.amazonaws.com", False),
    RoleAssumption("managed", "ssm.amazonaws.com", True, {"aws:SourceAccount": ACCOUNT}),
    RoleAssumption("managed", "ssm.amazonaws.com", False, {"aws:SourceAccount": "210987654321"}),
)
