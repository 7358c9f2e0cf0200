"""Holes in data residency, each with the place that data must not reach and the position that the finding must have."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from typing import Any

from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import DataCopy, LogSink, LogStoreForm
from tests.unit.ops.residency.form_changes import (
    Alter,
    archive_from_restricted,
    archive_of,
    cache_of_partner,
    clinic_as_operator,
    clinic_in_partition,
    clinic_in_submit,
    copied,
    egress_to_nfs,
    every_check_of_clinic,
    key_of_partner,
    mlflow_open_to_aws,
    one_mlflow_server,
    one_sagemaker_role,
    open_endpoint,
    own_prolog,
    partner_trusts_nodes,
    replica_elsewhere,
    role_with,
    role_without,
    store_admits_internal,
)

VPC = IPv4Network("10.60.0.0/16")
#: Environment without a hole: three classes, one of them on-prem only, and homes that stay at the site.
SOUND: dict[DataPath, Any] = {
    ("data_classes", "partner"): {"sites": ["onprem", "aws"]},
    ("scheduler", "accounts"): {
        "vision": {"users": ["alice"], "data_class": "internal"},
        "lab": {"users": ["bob"], "data_class": "partner"},
        "clinic": {"users": ["bob"], "data_class": "restricted"},
    },
    ("storage", "home"): {"kind": "nfs", "on_cloud_nodes": False},
    ("aws", "nat"): "none",
}
#: Nodes with a cache of staged datasets, and a group for each class.
STAGING: DataPath = ("storage", "staging")
CACHED: dict[DataPath, Any] = {
    ("onprem", "nodes", 0, "local_scratch"): "/scratch",
    STAGING: {
        "folder": "/export/home/datasets",
        "mount": "/home/datasets",
        "groups": {"internal": "lab", "restricted": "clinicians"},
        "cache": {"size_gib": 500},
    },
}
#: Timers that archive the models of the two classes in AWS.
ARCHIVED: dict[DataPath, Any] = {
    ("onprem", "services", "monitoring"): "mlops01",
    ("observability", "timers"): {},
    ("storage", "data_hub", "classes"): {name: {"replica_region": "us-west-2"} for name in ("internal", "partner")},
}
CLASSES: DataPath = ("data_classes",)
HOME: DataPath = ("storage", "home")


@dataclass(frozen=True)
class Hole:
    """Hole: changes of the file, a change of the compiled forms, and the expected finding."""

    data_class: str
    reaches: str
    path: DataPath
    through: str = ""
    changes: Mapping[DataPath, Any] = field(default_factory=dict)
    alter: Alter = lambda forms: forms
    rule: str = "residency-path"


SEEDED_IAM = ["s3:GetObject", "s3:PutObject", "kms:Decrypt", "kms:GenerateDataKey"]
HOLES = {
    "a job role with a wider prefix": Hole(
        "internal",
        "bucket test-partner",
        (*CLASSES, "internal"),
        "sessions of the role job-internal",
        alter=role_with("job-internal", SEEDED_IAM, ["arn:aws:s3:::test-*", "arn:aws:kms:*:*:key/test-*"]),
    ),
    "statements of the file for every class": Hole(
        "partner",
        "bucket test-internal",
        ("aws", "iam", "node_statements", 0),
        "sessions of the role job-partner",
        {
            ("aws", "iam", "node_statements"): [
                {"actions": ["s3:PutObject", "kms:GenerateDataKey"], "resources": ["*"], "why": "seeded hole"}
            ]
        },
    ),
    "a statement of the file for a bucket elsewhere": Hole(
        "internal",
        "bucket drop-box, not of the hub",
        ("aws", "iam", "node_statements", 0),
        changes={
            ("aws", "iam", "node_statements"): [
                {"actions": ["s3:PutObject"], "resources": ["arn:aws:s3:::drop-box/*"], "why": "seeded hole"}
            ]
        },
    ),
    "an archive of models that must stay on-prem": Hole(
        "restricted",
        "bucket test-internal",
        ("aws", "iam"),
        "archive of models of restricted",
        ARCHIVED,
        alter=archive_of("restricted"),
    ),
    "an archive whose timer reads the registry of another class": Hole(
        "restricted",
        "archive of models of internal",
        ("observability", "timers"),
        "timer",
        ARCHIVED,
        alter=archive_from_restricted,
        rule="residency-barrier",
    ),
    "an archive whose role reads": Hole(
        "internal",
        "sessions of the role archive",
        ("aws", "iam"),
        changes=ARCHIVED,
        alter=role_with("archive", ["s3:GetObject"], ["*"]),
        rule="residency-barrier",
    ),
    "an archive whose role denies no reads": Hole(
        "internal",
        "sessions of the role archive",
        ("aws", "iam"),
        changes=ARCHIVED,
        alter=role_without("archive", "DenyReadsOfObjects"),
        rule="residency-barrier",
    ),
    "an archive whose role reads and denies no reads": Hole(
        "internal",
        "sessions of the role archive",
        ("aws", "iam"),
        changes=ARCHIVED,
        alter=lambda forms: role_with("archive", ["s3:GetObject"], ["*"])(
            role_without("archive", "DenyReadsOfObjects")(forms)
        ),
    ),
    "the role of nodes with objects": Hole(
        "partner",
        "bucket test-internal",
        ("aws", "iam"),
        "nodes in us-east-1",
        alter=role_with("node", ["s3:PutObject", "kms:GenerateDataKey"], ["*"]),
    ),
    "homes mounted by cloud nodes": Hole(
        "restricted",
        "nodes in us-east-1",
        (*HOME, "on_cloud_nodes"),
        "home directories",
        {(*HOME, "on_cloud_nodes"): True},
    ),
    "an export to the range of the VPC": Hole(
        "restricted",
        "nodes in us-east-1",
        (*HOME, "on_cloud_nodes"),
        "NFS exports",
        alter=lambda forms: replace(forms, exports=(*(forms.exports or ()), VPC)),
        rule="residency-barrier",
    ),
    "a firewall rule at the edge for NFS": Hole(
        "restricted",
        "nodes in us-east-1",
        ("hosts", "firewall", "rules", 0),
        "firewall of nfs01",
        {
            ("hosts", "firewall", "rules"): [
                {"at": "nfs_server", "source": "10.60.0.0/16", "ports": "2049", "why": "seeded hole"}
            ]
        },
        rule="residency-barrier",
    ),
    "a security group of nodes that reaches NFS": Hole(
        "restricted",
        "nodes in us-east-1",
        (*HOME, "on_cloud_nodes"),
        "security group",
        alter=egress_to_nfs,
        rule="residency-barrier",
    ),
    "a key policy with the role of another class": Hole(
        "internal", "bucket test-partner", (*CLASSES, "internal"), "key", alter=key_of_partner, rule="residency-barrier"
    ),
    "a replica in another region": Hole(
        "internal",
        "bucket test-internal-replica",
        ("storage", "data_hub", "classes", "internal", "replica_region"),
        changes={("storage", "data_hub", "classes"): {"internal": {"replica_region": "us-east-2"}}},
        alter=replica_elsewhere,
    ),
    "a backup copied to another region": Hole(
        "partner",
        "backups of partner in eu-west-1",
        ("aws",),
        alter=copied(DataCopy("bucket:partner", "backups:p", "backups of partner", "eu-west-1", "seeded", ("aws",))),
    ),
    "a data mover of restricted data": Hole(
        "restricted",
        "bucket test-",
        ("aws", "iam"),
        "data mover of restricted",
        alter=lambda forms: replace(forms, moved=forms.moved | {"restricted"}),
    ),
    "a log group of restricted jobs": Hole(
        "restricted",
        "log group /jobs in us-east-1",
        ("aws", "logs"),
        "jobs of clinic on-prem",
        alter=lambda forms: replace(
            forms, logs=(LogSink("/jobs", "us-east-1", ("jobs:clinic@onprem",), ("aws", "logs")),)
        ),
    ),
    "a log store in AWS": Hole(
        "restricted",
        "log store on log01",
        ("onprem", "services", "logs"),
        "jobs of clinic on-prem",
        {("onprem", "services", "logs"): "mlops01"},
        alter=lambda forms: replace(
            forms,
            log_stores=(
                LogStoreForm("log01", "us-east-1", 19532, ("jobs:clinic@onprem",), ("onprem", "services", "logs")),
            ),
        ),
    ),
    "a firewall rule for the log store": Hole(
        "restricted",
        "nodes in us-east-1",
        ("hosts", "firewall", "rules", 0),
        "firewall of mlops01",
        {
            ("onprem", "services", "logs"): "mlops01",
            ("hosts", "firewall", "rules"): [
                {"at": "log_store", "source": "10.60.0.0/16", "ports": "19532", "why": "seeded hole"}
            ],
        },
        rule="residency-barrier",
    ),
    "an admission of nodes whose data stays in AWS": Hole(
        "partner",
        "log store on mlops01",
        ("onprem", "services", "logs"),
        "admission of nodes",
        {
            ("onprem", "services", "logs"): "mlops01",
            ("onprem", "services", "monitoring"): "mlops01",
            ("data_classes", "partner"): {"sites": ["aws"]},
        },
        alter=lambda forms: replace(
            forms, log_stores=tuple(replace(store, nodes=("p5-1",)) for store in forms.log_stores)
        ),
        rule="residency-barrier",
    ),
    "an endpoint policy for buckets of others": Hole(
        "internal", "buckets and services of other AWS accounts", ("aws", "endpoint_policy"), alter=open_endpoint
    ),
    "an account of operators that passes the controller": Hole(
        "restricted",
        "jobs of clinic in us-east-1",
        ("scheduler", "accounts", "clinic", "data_class"),
        "burst controller",
        alter=clinic_as_operator,
        rule="residency-barrier",
    ),
    "a partition that admits a restricted account": Hole(
        "restricted",
        "jobs of clinic in us-east-1",
        ("scheduler", "accounts", "clinic", "data_class"),
        "partitions",
        alter=clinic_in_partition,
        rule="residency-barrier",
    ),
    "a job_submit.lua that admits a restricted account": Hole(
        "restricted",
        "jobs of clinic in us-east-1",
        ("scheduler", "accounts", "clinic", "data_class"),
        "job_submit.lua",
        alter=clinic_in_submit,
        rule="residency-barrier",
    ),
    "another Prolog": Hole(
        "restricted",
        "jobs of clinic in us-east-1",
        ("scheduler", "accounts", "clinic", "data_class"),
        "Prolog",
        alter=own_prolog,
        rule="residency-barrier",
    ),
    "every check of a job's account": Hole(
        "restricted",
        "jobs of clinic in us-east-1",
        ("scheduler", "accounts", "clinic", "data_class"),
        alter=every_check_of_clinic,
    ),
    "SageMaker's role of two classes": Hole(
        "internal",
        "bucket test-partner",
        ("mlops", "sagemaker"),
        "training jobs of SageMaker",
        {("mlops", "sagemaker"): {}},
        alter=one_sagemaker_role,
    ),
    "MLflow's fault with one server for all data classes": Hole(
        "restricted",
        "bucket test-internal",
        ("aws", "iam"),
        "MLflow server mlflow",
        alter=one_mlflow_server,
    ),
    "an MLflow server of restricted data that accepts AWS": Hole(
        "restricted",
        "nodes in us-east-1",
        (*CLASSES, "restricted", "sites"),
        "server",
        alter=mlflow_open_to_aws,
        rule="residency-barrier",
    ),
    "a role of data in AWS only that trusts nodes at the site": Hole(
        "partner",
        "sessions of the role job-partner on-prem",
        (*CLASSES, "partner"),
        "bucket test-partner",
        {
            ("data_classes", "partner"): {"sites": ["aws"]},
            ("scheduler", "accounts", "lab", "data_class"): "internal",
        },
        partner_trusts_nodes,
    ),
    "a file system that exports to a bucket elsewhere": Hole(
        "internal",
        "s3://elsewhere",
        ("storage", "cloud_scratch", "repositories", 0),
        "file system cloud_scratch",
        {
            ("storage", "cloud_scratch"): {
                "kind": "fsx_lustre",
                "repositories": [{"folder": "/out", "bucket": "s3://elsewhere/x", "export": True}],
            }
        },
    ),
    "a policy of the object store that names another class": Hole(
        "restricted",
        "bucket test-internal-111122223333 in us-east-1",
        ("aws", "iam"),
        "bucket test-restricted of the object store",
        {("storage", "object_store"): {}},
        store_admits_internal,
    ),
    "a firewall rule for the object store": Hole(
        "restricted",
        "nodes in us-east-1",
        ("hosts", "firewall", "rules", 0),
        "firewall of nfs01",
        {
            ("storage", "object_store"): {},
            ("hosts", "firewall", "rules"): [
                {"at": "object_store", "source": "10.60.0.0/16", "ports": "7070", "why": "seeded hole"}
            ],
        },
        rule="residency-barrier",
    ),
    "copies of restricted objects to AWS": Hole(
        "restricted",
        "bucket test-",
        ("aws", "iam"),
        "copies of restricted from the object store",
        {("storage", "object_store"): {}},
        lambda forms: replace(forms, replicated=forms.replicated | {"restricted"}),
    ),
    "one group of two classes on nodes with cached datasets": Hole(
        "restricted",
        "bucket test-internal-111122223333 in us-east-1",
        ("aws", "iam"),
        "cached datasets of restricted on dgx[01-02]",
        {**CACHED, (*STAGING, "groups"): {"internal": "lab", "restricted": "lab"}},
    ),
    "the same group, for data that may be in AWS": Hole(
        "internal",
        "jobs of clinic on-prem",
        (*STAGING, "groups", "internal"),
        "cached datasets of internal",
        {**CACHED, (*STAGING, "groups"): {"internal": "lab", "restricted": "lab"}},
    ),
    "cached datasets of a class that may not be at the site": Hole(
        "partner",
        "cached datasets of partner on dgx",
        (*STAGING, "cache"),
        changes={
            **CACHED,
            ("data_classes", "partner"): {"sites": ["aws"]},
        },
        alter=cache_of_partner,
    ),
    "a job role that reads another class's cached datasets": Hole(
        "partner",
        "jobs of vision in us-east-1",
        (*CLASSES, "internal"),
        "cached datasets of partner on",
        {**CACHED, ("aws", "pools", 0, "local_scratch"): "/local"},
        role_with("job-internal", SEEDED_IAM, ["arn:aws:s3:::test-*", "arn:aws:kms:*:*:key/test-*"]),
    ),
}
