"""What keeps cost and rights in bounds while nobody looks: a budget, the function that ends forgotten nodes, the audit trail."""

from typing import Any, Literal

from landbridge.catalog.aws.guardrails import guardrails
from landbridge.catalog.aws.regions import regions
from landbridge.environment import Environment
from landbridge.environment.aws.guardrails import Email, is_email
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.data_hub import bucket_prefix
from landbridge.plan.aws.iam_policies import ArnContext, allow, service_trust, single_or_list
from landbridge.plan.policy_document import document

#: The tags by which bills can be told apart, once billing knows them.
COST_TAGS = ("landbridge:cluster", "landbridge:cost-center", "landbridge:owner", "landbridge:pool")


class BudgetPlan(Args):
    """A month's budget. `cluster_only`: counts what carries the cluster's tag; else the whole account."""

    usd: str
    alarms: tuple[int, ...]
    subscribers: tuple[Email, ...]
    hard: bool
    cluster_only: bool


class ReaperPlan(Args):
    """The function that ends nodes past their lease, and how often it looks."""

    name: str
    schedule: str
    runtime: str
    architecture: str
    memory_mib: int
    timeout_seconds: int
    log_days: int
    variables: dict[str, str]
    other_regions: tuple[str, ...] = ()


class TrailPlan(Args):
    """An audit trail in a bucket of its own, locked for so many days."""

    bucket_prefix: str
    days: int
    mode: Literal["GOVERNANCE", "COMPLIANCE"]

    def bucket_name(self, account: str) -> str:
        """The bucket's name in an account."""
        return f"{self.bucket_prefix}-{account}"


class GuardrailsArgs(Args):
    """Everything that is wanted; what is None or empty is not made."""

    cluster: str
    budget: BudgetPlan | None = None
    reaper: ReaperPlan | None = None
    cost_tags: tuple[str, ...] = ()
    anomaly_usd: str | None = None
    trail: TrailPlan | None = None
    subscribers: tuple[Email, ...] = ()
    path: str = "/"
    permissions_boundary: str | None = None
    protect: bool = True
    tags: dict[str, str]


def anomalies_of(cluster: str) -> dict[str, Any]:
    """What an anomaly monitor of one cluster looks at.

    Source: Cost Explorer API Reference, Expression. A monitor by service is the account's, and there can be one only
    (aws-cloudformation/cloudformation-coverage-roadmap, issue 2515).
    """
    return {"Tags": {"Key": "landbridge:cluster", "Values": [cluster], "MatchOptions": ["EQUALS"]}}


def subscribers(environment: Environment) -> tuple[str, ...]:
    """Who is written to: as asked, else the owner, where that is an address."""
    own = environment.budget.subscribers
    return own or ((environment.owner,) if is_email(environment.owner) else ())


def has_budgets(environment: Environment) -> bool:
    """Whether AWS Budgets is in the region's partition; a region that is not in the catalogue is taken for a public one."""
    region = regions().get(environment.region)
    return region is None or region.partition in guardrails().budgets.partitions


def guardrails_args(environment: Environment) -> GuardrailsArgs:
    """Plan the guardrails of an environment."""
    aws = environment.aws
    wanted, billing, people = aws.guardrails, has_budgets(environment), subscribers(environment)
    anomaly = wanted.anomaly_usd if billing and people else None
    return GuardrailsArgs(
        cluster=environment.name,
        budget=_budget(environment) if billing and people else None,
        reaper=_reaper(environment) if _wants_reaper(environment) else None,
        cost_tags=COST_TAGS if wanted.cost_tags and billing else (),
        anomaly_usd=None if anomaly is None else _amount(anomaly),
        trail=None
        if wanted.trail is None
        else TrailPlan(
            bucket_prefix=bucket_prefix(environment.name, "audit-trail"),
            days=wanted.trail.days,
            mode="COMPLIANCE" if wanted.trail.mode == "compliance" else "GOVERNANCE",
        ),
        subscribers=people,
        path=aws.iam.path,
        permissions_boundary=aws.iam.permissions_boundary,
        protect=aws.protect,
        tags=tags(environment),
    )


def _budget(environment: Environment) -> BudgetPlan | None:
    own = environment.budget
    if own.monthly_usd is None:
        return None
    return BudgetPlan(
        usd=_amount(own.monthly_usd),
        alarms=tuple(sorted(set(own.alarms))),
        subscribers=subscribers(environment),
        hard=own.hard,
        cluster_only=environment.aws.guardrails.cost_tags,
    )


def _wants_reaper(environment: Environment) -> bool:
    """Where AWS is emulated nothing is paid for, and an emulated function does not run by itself."""
    asked = environment.aws.guardrails.reaper
    return environment.aws.endpoints.operator is None and bool(environment.aws.pools) if asked is None else asked


def _reaper(environment: Environment) -> ReaperPlan:
    wanted, facts = environment.aws.guardrails, guardrails().reaper
    others = tuple(environment.aws.other_regions)
    return ReaperPlan(
        name=f"{environment.name}-reaper",
        schedule=f"rate({wanted.every_minutes} minutes)",
        runtime=facts.runtime,
        architecture=facts.architecture,
        memory_mib=facts.memory_mib,
        timeout_seconds=min(facts.timeout_seconds, wanted.every_minutes * 60),
        log_days=environment.aws.logs.retention_days,
        variables={
            "CLUSTER": environment.name,
            "GRACE_MINUTES": str(wanted.grace_minutes),
            "UNLEASED_HOURS": str(wanted.unleased_hours),
            **({"OTHER_REGIONS": " ".join(others)} if others else {}),
        },
        other_regions=others,
    )


def _amount(usd: float) -> str:
    """As Budgets writes amounts: decimal, without an exponent."""
    return f"{usd:.2f}".rstrip("0").rstrip(".")


def reaper_trust() -> str:
    """Only Lambda may take the role, and gives it to functions whose maker may pass it."""
    return document([service_trust("lambda.amazonaws.com")])


def reaper_policy(place: ArnContext, log_group_arn: str) -> str:
    """Find instances, end nodes of this cluster (what has a pool), and write its log."""
    nodes = {**place.owned, "Null": {"aws:ResourceTag/landbridge:pool": "false"}}
    return document(
        [
            allow("Find", ["ec2:DescribeInstances"], "*"),
            allow("End", ["ec2:TerminateInstances"], single_or_list(place.nodes("instance")), nodes),
            allow("Log", ["logs:CreateLogStream", "logs:PutLogEvents"], f"{log_group_arn}:*"),
        ]
    )


def budget_trust(account: str) -> str:
    """Only AWS Budgets, acting for this account."""
    return document([service_trust("budgets.amazonaws.com", account)])


def budget_policy(launch_role_arn: str, deny_policy_arn: str) -> str:
    """Put the one policy on the one role, and take it off again."""
    actions = ["iam:AttachRolePolicy", "iam:DetachRolePolicy"]
    only = {"ArnEquals": {"iam:PolicyARN": deny_policy_arn}}
    return document([allow("StopLaunches", actions, launch_role_arn, only)])


def no_launches() -> str:
    """What a hard budget puts on the launch role: nothing starts any more, and everything else goes on."""
    refusal = {"Sid": "BudgetIsSpent", "Effect": "Deny", "Action": list(guardrails().starts), "Resource": "*"}
    return document([refusal])


def trail_policy(bucket_arn: str, account: str, trail_arn: str) -> str:
    """CloudTrail writes this trail's files into this account's folder; nobody comes without TLS."""
    writer: dict[str, Any] = {"Effect": "Allow", "Principal": {"Service": "cloudtrail.amazonaws.com"}}
    ours = {"aws:SourceArn": trail_arn}
    owned = {**ours, "s3:x-amz-acl": "bucket-owner-full-control"}
    files = f"{bucket_arn}/AWSLogs/{account}/*"
    return document(
        [
            {
                "Sid": "TlsOnly",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [bucket_arn, f"{bucket_arn}/*"],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
            {
                **writer,
                "Sid": "Look",
                "Action": "s3:GetBucketAcl",
                "Resource": bucket_arn,
                "Condition": {"StringEquals": ours},
            },
            {
                **writer,
                "Sid": "Write",
                "Action": "s3:PutObject",
                "Resource": files,
                "Condition": {"StringEquals": owned},
            },
        ]
    )
