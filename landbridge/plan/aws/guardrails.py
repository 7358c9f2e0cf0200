"""Guardrails of an account: AWS budget, reaper of expired nodes, cost anomaly monitor and CloudTrail trail."""

from typing import Any, Literal

from landbridge.catalog.aws.access.guardrails import guardrails
from landbridge.catalog.aws.regions import regions
from landbridge.environment import Environment
from landbridge.environment.aws.guardrails import Email, is_email
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.access.iam_policies import ArnContext, allow, service_trust, single_or_list
from landbridge.plan.aws.alarms import AlarmsArgs, alarms_args
from landbridge.plan.aws.storage.data_hub import bucket_prefix, key_policy
from landbridge.plan.fips import fips_variables
from landbridge.plan.policy_document import document, merged

#: Tags that are activated as cost allocation tags.
COST_TAGS = ("landbridge:cluster", "landbridge:cost-center", "landbridge:owner", "landbridge:pool")


class BudgetPlan(Args):
    """Monthly AWS budget. With `cluster_only` it counts resources with the cluster's tag, else the whole account."""

    usd: str
    alarms: tuple[int, ...]
    subscribers: tuple[Email, ...]
    hard: bool
    cluster_only: bool


class ReaperPlan(Args):
    """Lambda function that terminates nodes past their lease, and its schedule."""

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
    """CloudTrail trail with a separate bucket and S3 Object Lock for `days`. `data_buckets` are the buckets, without the
    account id, whose objects' reads and writes it records: those of data classes under a regime.
    """

    bucket_prefix: str
    data_buckets: tuple[str, ...] = ()
    days: int
    mode: Literal["GOVERNANCE", "COMPLIANCE"]

    def bucket_name(self, account: str) -> str:
        """Return the bucket's name in an account."""
        return f"{self.bucket_prefix}-{account}"


class GuardrailsArgs(Args):
    """Plan of the guardrails; nothing is created for None or an empty value."""

    cluster: str
    budget: BudgetPlan | None = None
    reaper: ReaperPlan | None = None
    alarms: AlarmsArgs | None = None
    cost_tags: tuple[str, ...] = ()
    anomaly_usd: str | None = None
    trail: TrailPlan | None = None
    subscribers: tuple[Email, ...] = ()
    path: str = "/"
    permissions_boundary: str | None = None
    protect: bool = True
    tags: dict[str, str]


def anomalies_of(cluster: str) -> dict[str, Any]:
    """Return the Cost Explorer expression of one cluster's anomaly monitor.

    Source: Cost Explorer API Reference, Expression. A monitor by service covers the account, which can have only one
    (aws-cloudformation/cloudformation-coverage-roadmap, issue 2515).
    """
    return {"Tags": {"Key": "landbridge:cluster", "Values": [cluster], "MatchOptions": ["EQUALS"]}}


def subscribers(environment: Environment) -> tuple[str, ...]:
    """Return the email subscribers: as configured, else the owner if it is an email address."""
    emails = environment.budget.subscribers
    return emails or ((environment.owner,) if is_email(environment.owner) else ())


def has_budgets(environment: Environment) -> bool:
    """True if the region's partition has AWS Budgets; an unknown region counts as part of the public partition."""
    region = regions().get(environment.region)
    return region is None or region.partition in guardrails().budgets.partitions


def guardrails_args(environment: Environment) -> GuardrailsArgs:
    """Plan the guardrails of an environment."""
    aws = environment.aws
    settings, billing_available, email_subscribers = aws.guardrails, has_budgets(environment), subscribers(environment)
    reaper = _reaper(environment) if _wants_reaper(environment) else None
    anomaly = settings.anomaly_usd if billing_available and email_subscribers else None
    return GuardrailsArgs(
        cluster=environment.name,
        budget=_budget(environment) if billing_available and email_subscribers else None,
        reaper=reaper,
        alarms=alarms_args(environment, email_subscribers, None if reaper is None else reaper.name),
        cost_tags=COST_TAGS if settings.cost_tags and billing_available else (),
        anomaly_usd=None if anomaly is None else _amount(anomaly),
        trail=None
        if settings.trail is None
        else TrailPlan(
            bucket_prefix=bucket_prefix(environment.name, "audit-trail"),
            data_buckets=tuple(
                bucket_prefix(environment.name, name)
                for name, data_class in sorted(environment.data_classes.items())
                if data_class.regime is not None and "aws" in data_class.sites
            ),
            days=settings.trail.days,
            mode="COMPLIANCE" if settings.trail.mode == "compliance" else "GOVERNANCE",
        ),
        subscribers=email_subscribers,
        path=aws.iam.path,
        permissions_boundary=aws.iam.permissions_boundary,
        protect=aws.protect,
        tags=tags(environment),
    )


def _budget(environment: Environment) -> BudgetPlan | None:
    settings = environment.budget
    if settings.monthly_usd is None:
        return None
    return BudgetPlan(
        usd=_amount(settings.monthly_usd),
        alarms=tuple(sorted(set(settings.alarms))),
        subscribers=subscribers(environment),
        hard=settings.hard,
        cluster_only=environment.aws.guardrails.cost_tags,
    )


def _wants_reaper(environment: Environment) -> bool:
    """True if the reaper is configured, or by default with pools in real AWS: the emulator runs no Lambda schedule."""
    reaper = environment.aws.guardrails.reaper
    return environment.aws.endpoints.are_public and bool(environment.aws.pools) if reaper is None else reaper


def _reaper(environment: Environment) -> ReaperPlan:
    settings, facts = environment.aws.guardrails, guardrails().reaper
    others = tuple(environment.aws.other_regions)
    return ReaperPlan(
        name=f"{environment.name}-reaper",
        schedule=f"rate({settings.every_minutes} minutes)",
        runtime=facts.runtime,
        architecture=facts.architecture,
        memory_mib=facts.memory_mib,
        timeout_seconds=min(facts.timeout_seconds, settings.every_minutes * 60),
        log_days=environment.aws.logs.retention_days,
        variables={
            "CLUSTER": environment.name,
            "GRACE_MINUTES": str(settings.grace_minutes),
            "UNLEASED_HOURS": str(settings.unleased_hours),
            **({"OTHER_REGIONS": " ".join(others)} if others else {}),
            # The function runs in AWS, but it is not a node: the setting of the operator's side applies.
            **fips_variables(environment, "operator"),
        },
        other_regions=others,
    )


def _amount(usd: float) -> str:
    """Format an amount for AWS Budgets: decimal, without an exponent."""
    return f"{usd:.2f}".rstrip("0").rstrip(".")


def reaper_trust() -> str:
    """Return the trust policy: only Lambda may assume the role."""
    return document([service_trust("lambda.amazonaws.com")])


def reaper_policy(place: ArnContext, log_group_arn: str) -> str:
    """Return the reaper's policy: describe instances, terminate this cluster's nodes (tagged with a pool), write its
    log.
    """
    is_node = {**place.owned, "Null": {"aws:ResourceTag/landbridge:pool": "false"}}
    return document(
        [
            allow("DescribeInstances", ["ec2:DescribeInstances"], "*"),
            allow("TerminateInstances", ["ec2:TerminateInstances"], single_or_list(place.nodes("instance")), is_node),
            allow("WriteLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], f"{log_group_arn}:*"),
        ]
    )


def budget_trust(account: str) -> str:
    """Return the trust policy: only AWS Budgets on behalf of this account."""
    return document([service_trust("budgets.amazonaws.com", account)])


def budget_policy(launch_role_arn: str, deny_policy_arn: str) -> str:
    """Return the policy to attach one deny policy to the launch role, and to detach it."""
    actions = ["iam:AttachRolePolicy", "iam:DetachRolePolicy"]
    deny_policy_only = {"ArnEquals": {"iam:PolicyARN": deny_policy_arn}}
    return document([allow("AttachDenyLaunchPolicy", actions, launch_role_arn, deny_policy_only)])


def no_launches() -> str:
    """Return the policy that a hard budget attaches to the launch role: it denies launches only."""
    denial = {"Sid": "DenyLaunchesOverBudget", "Effect": "Deny", "Action": list(guardrails().starts), "Resource": "*"}
    return document([denial])


def trail_policy(bucket_arn: str, account: str, trail_arn: str) -> str:
    """Return the bucket policy: CloudTrail writes this trail's files into this account's folder; all
    requests need TLS.
    """
    writer: dict[str, Any] = {"Effect": "Allow", "Principal": {"Service": "cloudtrail.amazonaws.com"}}
    this_trail = {"aws:SourceArn": trail_arn}
    full_control = {**this_trail, "s3:x-amz-acl": "bucket-owner-full-control"}
    log_files = f"{bucket_arn}/AWSLogs/{account}/*"
    return document(
        [
            {
                "Sid": "DenyWithoutTls",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [bucket_arn, f"{bucket_arn}/*"],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
            {
                **writer,
                "Sid": "AllowCloudTrailGetBucketAcl",
                "Action": "s3:GetBucketAcl",
                "Resource": bucket_arn,
                "Condition": {"StringEquals": this_trail},
            },
            {
                **writer,
                "Sid": "AllowCloudTrailPutObject",
                "Action": "s3:PutObject",
                "Resource": log_files,
                "Condition": {"StringEquals": full_control},
            },
        ]
    )


def trail_key_policy(partition: str, account: str, trail_arn: str) -> str:
    """Return the key policy: CloudTrail encrypts this trail's log and digest files; IAM of the account decides who reads
    them.

    Source: CloudTrail User Guide, "Configure AWS KMS key policies for CloudTrail". A wrong policy stops the delivery of
    log files.
    """
    this_trail = {"aws:SourceArn": trail_arn}
    encrypted = {**this_trail, "kms:EncryptionContext:aws:cloudtrail:arn": trail_arn}
    service = {"Principal": {"Service": "cloudtrail.amazonaws.com"}}
    statements = [
        {**allow("AllowCloudTrailEncrypt", ["kms:GenerateDataKey*"], "*", {"StringEquals": encrypted}), **service},
        {**allow("AllowCloudTrailDescribeKey", ["kms:DescribeKey"], "*", {"StringEquals": this_trail}), **service},
    ]
    return merged(key_policy(partition, account), statements)
