"""Mistakes with the site's object store."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

STORE: DataPath = ("storage", "object_store")
HOST: DataPath = ("onprem", "services", "object_store")
REMOTE = {("data_classes",): {"internal": {"sites": ["aws"]}}}

ROWS = [
    Row("object-store-place", "a host of an object store that the file does not have", {HOST: "nfs01"}, HOST, "there is no object store"),
    Row("object-store-place", "an object store without a class on-prem", {**REMOTE, STORE: {}}, STORE, "no data class may be on-prem"),
    Row("object-store-port", "the object store at NFS's port", {STORE: {"port": 2049}}, (*STORE, "port"), "NFS"),
    Row("object-store-port", "the object store at MLflow's port", {STORE: {"port": 5000}, HOST: "mlops01"}, (*STORE, "port"), "MLflow's server for internal"),
    Row("object-store-replicate", "a misspelt class to replicate", {STORE: {"replicate": ["internl"]}}, (*STORE, "replicate", 0), '"internal"'),
    Row("object-store-replicate", "restricted data to replicate", {STORE: {"replicate": ["restricted"]}}, (*STORE, "replicate", 0), "never replicated"),
    Row("object-store-replicate", "copies of objects without credentials", {STORE: {"replicate": ["internal"]}}, (*STORE, "replicate"), "aws.iam.anywhere"),
]  # fmt: skip
