"""Layers in AWS: IAM, KMS, VPC endpoints, the service control policy, and the lists of classes of AWS's services.

Each function returns whether its layer alone refuses an attempt; None if the environment does not have the layer.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from landbridge.catalog.residency_attempts import ResidencyAttempt
from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.ops.residency.attempts.subject import AttemptSubject
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.iam_access import passes, reads, writes
from landbridge.ops.residency.iam_forms import ACCOUNT, RoleForm
from landbridge.plan.aws.sagemaker import job_classes
from landbridge.plan.placement.service_control_policy import planned_types, service_control_policy
from landbridge.tags import DATA_CLASS

Layer = Callable[[CompiledForms, AttemptSubject, ResidencyAttempt], bool | None]
_ANYTHING: Mapping[str, Any] = {"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"}
#: Service of the endpoint by the prefix of an action.
_ENDPOINTS = {"s3": "s3", "secretsmanager": "secretsmanager", "ssm": "ssm"}


def _role(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> RoleForm | None:
    return forms.roles.get(subject.text(attempt.role)) if attempt.role else None


def _request(role: RoleForm, subject: AttemptSubject, attempt: ResidencyAttempt) -> Request:
    context = {
        "aws:SecureTransport": "true",
        "aws:ResourceAccount": ACCOUNT,
        "aws:PrincipalAccount": ACCOUNT,
        "aws:PrincipalIsAWSService": "false",
        **{key: subject.text(value) for key, value in attempt.context.items()},
    }
    partition = role.arn.split(":")[1]
    resource = subject.text(attempt.resource).replace("arn:aws:", f"arn:{partition}:", 1)
    return Request(role.arn, attempt.action, resource, context)


def _of_effect(role: RoleForm, effect: str) -> tuple[Document, ...]:
    return tuple(
        Document(document.name, tuple(row for row in document.statements if row["Effect"] == effect))
        for document in role.permissions
    )


def _role_denial(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    """The denials of the role refuse it although everything else is allowed."""
    role = _role(forms, subject, attempt)
    if role is None:
        return None
    policies = Policies((Document("identity", (_ANYTHING,)), *_of_effect(role, "Deny")))
    return not evaluate(_request(role, subject, attempt), policies).allowed


def _role_allowance(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    """No statement of the role allows it, with its denials left out."""
    role = _role(forms, subject, attempt)
    if role is None:
        return None
    return not evaluate(_request(role, subject, attempt), Policies(_of_effect(role, "Allow"))).allowed


def _key(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    role, bucket = _role(forms, subject, attempt), forms.buckets.get(f"bucket:{subject.other_class}")
    if role is None or bucket is None:
        return None
    barriers = reads(role, bucket) if attempt.action == "s3:GetObject" else writes(role, bucket)
    return not next(barrier.open for barrier in barriers if barrier.name == "key")


def _endpoint(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    """With NAT or an existing VPC there are other ways to AWS's services, and the layer is absent."""
    aws, region = forms.environment.aws, forms.environment.region
    policy = forms.endpoints.get((region, _ENDPOINTS[attempt.action.partition(":")[0]]))
    if aws.nat != "none" or aws.vpc is not None or policy is None:
        return None
    owner = attempt.context["aws:ResourceAccount"]
    return not passes(policy, attempt.action, subject.text(attempt.resource), ACCOUNT, owner).open


def _scp(forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> bool | None:
    """The service control policy refuses a launch with the tag of the class, or the attempt's own request."""
    environment = forms.environment
    region = attempt.region or environment.region
    denials = json.loads(service_control_policy(environment))["Statement"]
    policies = Policies((Document("identity", (_ANYTHING,)),), organization=(Document("scp", (_ANYTHING, *denials)),))
    role = _role(forms, subject, attempt)
    if role is not None:
        request = _request(role, subject, attempt)
        context = {**request.context, "aws:RequestedRegion": region}
        return not evaluate(Request(role.arn, request.action, request.resource, context), policies).allowed
    launch = forms.roles.get("launch")
    types = planned_types(environment)
    if launch is None or not types:
        return None
    tags = {
        "aws:RequestedRegion": region,
        "ec2:InstanceType": types[0],
        f"aws:RequestTag/{DATA_CLASS}": subject.data_class,
    }
    arn = f"arn:{launch.arn.split(':')[1]}:ec2:{region}:{ACCOUNT}:instance/*"
    return not evaluate(Request(launch.arn, "ec2:RunInstances", arn, tags), policies).allowed


def _class_role(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    return f"job-{subject.data_class}" not in forms.roles


def _class_bucket(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    return all(form.data_class != subject.data_class for form in forms.buckets.values())


def _copies(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    """No replica or backup has a source at the site, or a bucket of the class."""
    home = forms.environment.storage.home
    onprem = {"home"} if home.kind in ("nfs", "external_nfs") else set[str]()
    onprem |= {f"share:{name}" for name in forms.environment.storage.site_shares}
    return not any(copy.source in {*onprem, f"bucket:{subject.data_class}"} for copy in forms.copies)


def _sagemaker_classes(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    if forms.environment.mlops.sagemaker is None:
        return None
    return subject.data_class not in job_classes(forms.environment)


def _log_writers(forms: CompiledForms, subject: AttemptSubject, _: ResidencyAttempt) -> bool | None:
    of_class = {f"jobs:{name}" for name, account in forms.accounts.items() if account.data_class == subject.data_class}
    return not any(writer.partition("@")[0] in of_class for log in forms.logs for writer in log.writers)


AWS_LAYERS: Mapping[str, Layer] = {
    "scp": _scp,
    "role_denial": _role_denial,
    "role_allowance": _role_allowance,
    "key": _key,
    "endpoint": _endpoint,
    "class_role": _class_role,
    "class_bucket": _class_bucket,
    "copies": _copies,
    "sagemaker_classes": _sagemaker_classes,
    "log_writers": _log_writers,
}
