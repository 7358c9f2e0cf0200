"""Targets of Prometheus for nodes in AWS, from DescribeInstances: the service landbridge-discovery.

    python -m landbridge.burst.aws.metrics_targets SETTINGS FOLDER

SETTINGS is a JSON object: `cluster`, `regions`, `exporters` (port and pools by job), `seconds` between two calls, `endpoint`,
`credentials_file` and `fips`. FOLDER gets a target file (file_sd) for each job. Prometheus' own discovery of EC2 has no launch index, without
which an instance of a launch of several nodes has no name. After a failed call the files stay as they are.
"""

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.aws.instances import instance_of
from landbridge.burst.model import CloudInstance
from landbridge.tags import CLUSTER, POOL

_OPTIONS = Config(retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=3, read_timeout=20)
#: Entries of one page. Source: EC2 API Reference, DescribeInstances (MaxResults).
_PAGE = 1000


def target_files(instances: Iterable[CloudInstance], exporters: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the content of the target files by job: the running instances of its pools that have a node.

    Of two instances of one node the newest is its target: the former one ends.
    """
    newest: dict[str, CloudInstance] = {}
    for instance in sorted(instances, key=lambda instance: (instance.launched, instance.id)):
        if instance.state == "running" and instance.node and instance.address:
            newest[instance.node] = instance
    return {
        job: [
            {"targets": [f"{instance.address}:{exporter['port']}"], "labels": _labels(instance)}
            for _, instance in sorted(newest.items())
            if instance.pool in exporter["pools"]
        ]
        for job, exporter in exporters.items()
    }


def refresh(settings: Mapping[str, Any], folder: Path) -> None:
    """Write the target files. Raises BotoCoreError or ClientError, and then changes none."""
    instances = [instance for region in settings["regions"] for instance in _instances(settings, region)]
    for job, groups in target_files(instances, settings["exporters"]).items():
        unfinished = folder / f".{job}.new"
        unfinished.write_text(json.dumps(groups, indent=1) + "\n", encoding="utf-8")
        unfinished.chmod(0o644)
        unfinished.replace(folder / f"{job}.json")


def main(arguments: list[str]) -> int:
    """Write the target files again and again."""
    settings = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    if settings["credentials_file"]:
        os.environ.setdefault("AWS_SHARED_CREDENTIALS_FILE", settings["credentials_file"])
    while True:
        try:
            refresh(settings, Path(arguments[1]))
        except (BotoCoreError, ClientError) as error:
            print(f"landbridge-discovery: {error}", file=sys.stderr, flush=True)
        time.sleep(settings["seconds"])


def _labels(instance: CloudInstance) -> dict[str, str]:
    return {
        "instance": instance.node,
        "node": instance.node,
        "role": "slurm_node",
        "site": "aws",
        "region": instance.region,
        "pool": instance.pool,
        "instance_type": instance.type,
        "market": instance.market,
    }


def _instances(settings: Mapping[str, Any], region: str) -> Iterable[CloudInstance]:
    fips = Config(use_fips_endpoint=True) if settings["fips"] else Config()
    session = boto3.session.Session(region_name=region)
    client = session.client("ec2", endpoint_url=settings["endpoint"], config=_OPTIONS.merge(fips))
    filters: Any = [
        {"Name": f"tag:{CLUSTER}", "Values": [settings["cluster"]]},
        {"Name": "tag-key", "Values": [POOL]},
        {"Name": "instance-state-name", "Values": ["running"]},
    ]
    pages = client.get_paginator("describe_instances").paginate(Filters=filters, PaginationConfig={"PageSize": _PAGE})
    for page in pages:
        for reservation in page["Reservations"]:
            yield from (instance_of(description, region) for description in reservation["Instances"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
