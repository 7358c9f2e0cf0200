"""Mistakes with the service of pipelines."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.core.samples import REMOVED
from tests.unit.rules.aws.rows_cloud_services import with_services
from tests.unit.rules.row import Row
from tests.unit.rules.slurm.rows_existing_slurm import RUNNING

PIPELINES: DataPath = ("mlops", "pipelines")
CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


def piped(changes: dict[DataPath, Any] | None = None, **settings: Any) -> dict[DataPath, Any]:
    """Return a change of the environment: pipelines."""
    return {PIPELINES: settings, **(changes or {})}


ROWS = [
    Row("pipelines-place", "pipelines without an account", piped({("scheduler", "accounts"): REMOVED}), PIPELINES, "no Slurm account"),
    Row("pipelines-place", "pipelines without accounting", piped({CONF: {"AccountingStorageType": None}}), PIPELINES, "no accounting"),
    Row("pipelines-place", "pipelines in a Slurm that runs already", piped(RUNNING), PIPELINES, "in your own playbook"),
    Row("pipelines-place", "pipelines in AWS beside hosts for logins", piped(with_services()), PIPELINES, "does not mount the homes"),
    Row("pipelines-ended-jobs", "a short MinJobAge with pipelines", piped({CONF: {"MinJobAge": 60}}), (*CONF, "MinJobAge"), "after 60 s"),
    Row("pipelines-datasets", "a misspelt class of a folder of datasets", piped(datasets={"internl": "/home/datasets"}), (*PIPELINES, "datasets", "internl"), '"internal"'),
    Row("pipelines-datasets", "a folder of datasets that must stay in AWS",
        piped({("data_classes", "cloud"): {"sites": ["aws"]}}, datasets={"cloud": "/home/cloud"}), (*PIPELINES, "datasets", "cloud"), "may not be on mlops01"),
]  # fmt: skip
