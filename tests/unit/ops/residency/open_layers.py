"""Openers of the layers of the attempts: each changes the compiled forms so that one layer permits what it refused."""

from collections.abc import Mapping
from dataclasses import replace

from landbridge.catalog.residency_attempts import ResidencyAttempt
from landbridge.environment import Environment
from landbridge.ops.iam import Document
from landbridge.ops.residency.attempts import AttemptSubject
from landbridge.ops.residency.compiled import CompiledForms, LogSink
from tests.unit.ops.residency.form_changes import (
    Alter,
    clinic_as_operator,
    clinic_in_partition,
    clinic_in_submit,
    egress_to_nfs,
    mlflow_open_to_aws,
)
from tests.unit.ops.residency.seeded_holes import VPC

RESTRICTED = "restricted"


def opened(layer: str, forms: CompiledForms, subject: AttemptSubject, attempt: ResidencyAttempt) -> CompiledForms:
    """Return the forms in which a layer permits an attempt."""
    if layer in ("role_denial", "role_allowance"):
        return _role(forms, subject.text(attempt.role), attempt.action, keeps_denials=layer == "role_allowance")
    return OPENERS[layer](forms)


def _role(forms: CompiledForms, name: str, action: str, *, keeps_denials: bool) -> CompiledForms:
    """Remove the denials of a role, or let it send the request of the attempt to any resource."""
    role = forms.roles[name]
    anything = {"Sid": "Opened", "Effect": "Allow", "Action": action, "Resource": "*"}
    effect = "Deny" if keeps_denials else "Allow"
    documents = tuple(
        Document(document.name, tuple(row for row in document.statements if row["Effect"] == effect))
        for document in role.permissions
    )
    extra = (Document("opened", (anything,)),) if keeps_denials else ()
    return replace(forms, roles={**forms.roles, name: replace(role, permissions=(*documents, *extra))})


def _in_environment(forms: CompiledForms, environment: Environment) -> CompiledForms:
    return replace(forms, environment=environment)


def _user_of_both(forms: CompiledForms) -> CompiledForms:
    scheduler = forms.environment.scheduler
    vision = scheduler.accounts["vision"].model_copy(update={"users": ("alice", "bob")})
    accounts = scheduler.model_copy(update={"accounts": {**scheduler.accounts, "vision": vision}})
    return _in_environment(forms, forms.environment.model_copy(update={"scheduler": accounts}))


def _class_in_aws(forms: CompiledForms) -> CompiledForms:
    classes = forms.environment.data_classes
    wider = classes[RESTRICTED].model_copy(update={"sites": ("onprem", "aws")})
    return _in_environment(forms, forms.environment.model_copy(update={"data_classes": {**classes, RESTRICTED: wider}}))


def _sagemaker(forms: CompiledForms) -> CompiledForms:
    wider = _class_in_aws(forms)
    settings = wider.environment.mlops.sagemaker
    assert settings is not None
    mlops = wider.environment.mlops.model_copy(
        update={"sagemaker": settings.model_copy(update={"data_classes": (RESTRICTED,)})}
    )
    return _in_environment(wider, wider.environment.model_copy(update={"mlops": mlops}))


def _firewall(forms: CompiledForms) -> CompiledForms:
    hosts = forms.environment.hosts
    off = hosts.model_copy(update={"firewall": hosts.firewall.model_copy(update={"mode": "observe"})})
    return _in_environment(forms, forms.environment.model_copy(update={"hosts": off}))


def _bucket(forms: CompiledForms) -> CompiledForms:
    bucket = replace(forms.buckets["bucket:internal"], data_class=RESTRICTED, key=f"bucket:{RESTRICTED}")
    return replace(forms, buckets={**forms.buckets, bucket.key: bucket})


def _class_role(forms: CompiledForms) -> CompiledForms:
    role = replace(forms.roles["job-internal"], name=f"job-{RESTRICTED}")
    return replace(forms, roles={**forms.roles, role.name: role})


def _copies(forms: CompiledForms) -> CompiledForms:
    assert forms.copies, "the environment has a replica"
    return replace(forms, copies=(replace(forms.copies[0], source="home"),))


def _logs(forms: CompiledForms) -> CompiledForms:
    return replace(forms, logs=(LogSink("/jobs", "us-east-1", ("jobs:clinic@onprem",), ("aws", "logs")),))


def _stores(forms: CompiledForms) -> CompiledForms:
    servers = tuple(replace(server, stores_in="internal") for server in forms.servers)
    return replace(forms, servers=servers)


def _endpoint(forms: CompiledForms) -> CompiledForms:
    seeded = {"Sid": "Seeded", "Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}
    opened_policies = {place: Document(policy.name, (seeded,)) for place, policy in forms.endpoints.items()}
    return replace(forms, endpoints=opened_policies)


def _tracking(forms: CompiledForms) -> CompiledForms:
    first = next(server for server in forms.servers if server.data_class != RESTRICTED)
    return replace(forms, tracking={**forms.tracking, "clinic": first.uri})


OPENERS: Mapping[str, Alter] = {
    "job_submit": clinic_in_submit,
    "allow_accounts": clinic_in_partition,
    "controller": clinic_as_operator,
    "associations": _user_of_both,
    "partition_nodes": lambda forms: replace(
        forms, partitions=tuple(replace(form, sites=frozenset({"onprem", "aws"})) for form in forms.partitions)
    ),
    "exports": lambda forms: replace(forms, exports=(*(forms.exports or ()), VPC)),
    "firewall": _firewall,
    "security_group": egress_to_nfs,
    "server_networks": mlflow_open_to_aws,
    "server_users": _user_of_both,
    "tracking_uri": _tracking,
    "artifact_store": _stores,
    "dataset_class": _class_in_aws,
    "data_mover": lambda forms: replace(forms, moved=forms.moved | {RESTRICTED}),
    "sagemaker_classes": _sagemaker,
    "log_writers": _logs,
    "copies": _copies,
    "class_role": _class_role,
    "class_bucket": _bucket,
    "endpoint": _endpoint,
}
