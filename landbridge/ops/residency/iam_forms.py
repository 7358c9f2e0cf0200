"""Compiled IAM of an environment: policies of its roles, buckets and keys, with an account's number for the real one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.catalog import regions
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.ops.iam import Document
from landbridge.plan.aws import sagemaker
from landbridge.plan.aws.access import iam_policies, identity, job_roles, role_trust
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.identity import IdentityArgs
from landbridge.plan.aws.storage.data_hub import BucketPlan, bucket_policy, data_hub_args, key_policy
from landbridge.plan.network.endpoint_policy import endpoint_policy, endpoint_policy_args
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.other_regions import other_regions

#: Number in place of the account's; the policies have no other difference. AWS uses it in its documentation.
ACCOUNT = "111122223333"
_IAM: DataPath = ("aws", "iam")
_SAGEMAKER: DataPath = ("mlops", "sagemaker")


@dataclass(frozen=True, slots=True)
class HubBucketForm:
    """Bucket of the data hub, or its replica, with its policy and its key's policy. `copy_of`: key of the source."""

    key: str
    data_class: str
    name: str
    region: str
    policy: Document
    key_policy: Document
    key_arn: str
    arn: str
    path: DataPath
    copy_of: str | None = None


@dataclass(frozen=True, slots=True)
class RoleForm:
    """IAM role: its ARN, its permissions, its trust policy (None: not evaluated), and its position in the file."""

    name: str
    arn: str
    permissions: tuple[Document, ...]
    trust: Document | None
    path: DataPath


def arn_context(environment: Environment) -> ArnContext:
    """Return the partition, regions and account of the ARNs."""
    facts = regions().get(environment.region)
    partition = facts.partition if facts is not None else "aws"
    return ArnContext(environment.name, partition, environment.region, ACCOUNT, tuple(environment.aws.other_regions))


def hub_buckets(environment: Environment) -> dict[str, HubBucketForm]:
    """Return the buckets and replicas by their key in the graph."""
    place, buckets = arn_context(environment), {}
    for plan in data_hub_args(environment).buckets:
        form = _bucket(place, plan, plan.name_prefix, environment.region, f"bucket:{plan.data_class}")
        buckets[form.key] = form
        if plan.replica_region is not None:
            key = f"replica:{plan.data_class}"
            buckets[key] = _bucket(place, plan, plan.replica_prefix, plan.replica_region, key, form.key)
    return buckets


def roles(environment: Environment, buckets: Mapping[str, HubBucketForm]) -> dict[str, RoleForm]:
    """Return the roles by name: `job-CLASS`, `node`, the roles of on-prem hosts or of the controller,
    `sagemaker-CLASS`.
    """
    place, args = arn_context(environment), identity.identity_args(environment)
    class_buckets = [form for form in buckets.values() if form.copy_of is None]
    arns, keys = (
        {form.data_class: form.arn for form in class_buckets},
        {form.data_class: form.key_arn for form in class_buckets},
    )
    node_role = _role_arn(place, args.path, f"{environment.name}-node")
    job_arns = {plan.data_class: _role_arn(place, args.path, plan.name) for plan in args.jobs}
    anchor = _anchor(place, args)
    secret = f"arn:{place.partition}:secretsmanager:{place.region}:{ACCOUNT}:secret:{args.secret_name}-AbCdEf"
    metrics = args.metrics_secret_name and secret.replace(args.secret_name, args.metrics_secret_name)
    rendered = identity.documents(args, place, arns, keys, [node_role], job_arns, secret, metrics)
    forms = {"node": _role("node", node_role, rendered.node, role_trust.instance_trust(), _IAM)}
    texts = {
        "launch": rendered.launch,
        "terminate": rendered.terminate,
        "read": rendered.read,
        "mover": rendered.mover,
        "discovery": rendered.discovery,
        "serving": rendered.serving,
        "archive": rendered.archive,
    }
    texts["hub"] = identity.hub_document(args, place.partition, arns, keys)
    for role in args.hosts:
        trust = role_trust.onprem_trust(args, role, ACCOUNT, anchor)
        arn = _role_arn(place, args.path, f"{environment.name}-{role}")
        forms[role] = _role(role, arn, texts[role], trust, _IAM)
    if environment.onprem is None and class_buckets:
        # The controller in AWS has the rights of MLflow's host in its instance profile.
        controller = iam_policies.hub([form.arn for form in class_buckets], [form.key_arn for form in class_buckets])
        arn = _role_arn(place, args.path, f"{environment.name}-controller")
        denials = iam_policies.deny_restricted_classes(place.partition, args.restricted, args.restricted_buckets)
        text: dict[str, Any] = {"Statement": [*controller, *denials]}
        forms["hub"] = _role("hub", arn, text, None, ("aws", "services"))
    for plan in args.jobs:
        trust = job_roles.trust(plan, place, [node_role], anchor)
        path: DataPath = ("data_classes", plan.data_class)
        forms[plan.key] = _role(plan.key, job_arns[plan.data_class], rendered.jobs[plan.data_class], trust, path)
    return forms | _sagemaker(environment, place, arns, keys)


def endpoint_policies(environment: Environment) -> dict[tuple[str, str], Document]:
    """Return the policies of the VPC endpoints by region and service."""
    by_region = {environment.region: environment, **other_regions(environment)}
    return {
        (region, endpoint.service): Document.of(
            f"policy of the endpoint {endpoint.service}",
            endpoint_policy(endpoint_policy_args(settings), endpoint.service, ACCOUNT),
        )
        for region, settings in by_region.items()
        for endpoint in endpoint_services(settings)
    }


def anchor_arn(environment: Environment) -> str | None:
    """Return the ARN of the trust anchor of IAM Roles Anywhere; None if Landbridge creates none."""
    return _anchor(arn_context(environment), identity.identity_args(environment))


def _bucket(
    place: ArnContext, plan: BucketPlan, prefix: str, region: str, key: str, copy_of: str | None = None
) -> HubBucketForm:
    name = plan.bucket_name(ACCOUNT, prefix)
    arn = f"arn:{place.partition}:s3:::{name}"
    key_arn = f"arn:{place.partition}:kms:{region}:{ACCOUNT}:key/{prefix}"
    fsx_region = place.region if plan.is_linked_to_fsx and copy_of is None else None
    settings: DataPath = ("storage", "data_hub", "classes", plan.data_class)
    return HubBucketForm(
        key,
        plan.data_class,
        name,
        region,
        Document.of(f"policy of bucket {name}", bucket_policy(arn, key_arn)),
        Document.of(f"policy of the key of {name}", key_policy(place.partition, ACCOUNT, fsx_region)),
        key_arn,
        arn,
        ("data_classes", plan.data_class) if copy_of is None else (*settings, "replica_region"),
        copy_of,
    )


def _sagemaker(
    environment: Environment, place: ArnContext, arns: Mapping[str, str], keys: Mapping[str, str]
) -> dict[str, RoleForm]:
    args = sagemaker.sagemaker_args(environment)
    if args is None:
        return {}
    forms = {}
    for jobs in args.classes:
        inside = sagemaker.Inside(
            vpc="vpc-0",
            subnets=("subnet-0",),
            security_group="sg-0",
            bucket=arns[jobs.data_class],
            key=keys[jobs.data_class],
        )
        name, text = f"sagemaker-{jobs.data_class}", sagemaker.job_policy(args, place, inside)
        arn = _role_arn(place, args.path, jobs.role)
        forms[name] = _role(name, arn, text, sagemaker.job_trust(ACCOUNT), _SAGEMAKER)
    return forms


def _role(name: str, arn: str, permissions: str | Mapping[str, Any], trust: str | None, path: DataPath) -> RoleForm:
    trust_document = None if trust is None else Document.of(f"trust policy of {name}", trust)
    return RoleForm(name, arn, (Document.of(f"role {name}", permissions),), trust_document, path)


def _role_arn(place: ArnContext, path: str, name: str) -> str:
    return f"arn:{place.partition}:iam::{ACCOUNT}:role{path}{name}"


def _anchor(place: ArnContext, args: IdentityArgs) -> str | None:
    if args.anchor is None:
        return None
    return f"arn:{place.partition}:rolesanywhere:{place.region}:{ACCOUNT}:trust-anchor/site"
