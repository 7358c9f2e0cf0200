"""Mistakes with the data of file systems in AWS."""

from typing import Any

from tests.unit.rules.parts import SCRATCH, SHARES
from tests.unit.rules.row import Row

FIRST = (*SCRATCH, "repositories", 0)
SECOND = (*SCRATCH, "repositories", 1)
OTHER = (*SHARES, "other", "repositories", 0)


def lustre(*repositories: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"kind": "fsx_lustre", "repositories": list(repositories), **keys}


def link(folder: str = "/data", **keys: Any) -> dict[str, Any]:
    return {"folder": folder, **keys}


ROWS = [
    Row("repository-class", "a repository of an unknown class", {SCRATCH: lustre(link(data_class="intern"))}, (*FIRST, "data_class"), '"internal"'),
    Row("repository-class", "a repository of data that must stay on-prem", {SCRATCH: lustre(link(data_class="restricted"))}, (*FIRST, "data_class"), "onprem only"),
    Row("repository-writers", "two file systems that write to one bucket", {SCRATCH: lustre(link(bucket="s3://mine/out", export=True)), (*SHARES, "other"): lustre(link(bucket="s3://mine/out", export=True), mount="/more")}, (*OTHER, "export"), "exports to"),
    Row("repository-writers", "a folder that writes into another's prefix", {SCRATCH: lustre(link(data_class="internal", export=True), link("/more", data_class="internal", export=True))}, (*SECOND, "export"), "exports to"),
    Row("repository-writers", "a prefix inside an exported bucket", {SCRATCH: lustre(link(bucket="s3://mine", export=True), link("/more", bucket="s3://mine/a", export=True))}, (*SECOND, "export"), "exports to"),
    Row("hub-bucket-two-writers", "an export over MLflow's artifacts", {SCRATCH: lustre(link(data_class="internal", export=True)), ("mlops", "mlflow"): {"data_class": "internal"}}, (*FIRST, "export"), "MLflow"),
    Row("file-system-without-copy", "scratch without a copy", {SCRATCH: {"kind": "fsx_lustre", "deployment": "scratch_2"}}, SCRATCH, "loses data"),
    Row("file-system-without-copy", "OpenZFS without backups", {(*SHARES, "homes"): {"kind": "fsx_openzfs", "backup_days": 0}}, (*SHARES, "homes", "backup_days"), "backup_days: 7"),
    Row("file-system-without-copy", "EFS without backups", {(*SHARES, "files"): {"kind": "efs", "backups": False}}, (*SHARES, "files", "backups"), "backups: true"),
    Row("repository-without-export", "results without an export", {SCRATCH: lustre(link(data_class="internal"), deployment="scratch_2")}, (*SCRATCH, "repositories"), "export: true"),
]  # fmt: skip
