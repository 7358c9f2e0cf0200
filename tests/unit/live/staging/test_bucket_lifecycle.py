"""Lifecycle rules of the data hub's buckets that reach datasets, in the emulated S3."""

from datetime import UTC, datetime
from typing import Any

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.findings import Finding, Severity
from landbridge.live.preflight.scene import Scene
from landbridge.live.preflight.storage.lifecycle import bucket_lifecycle
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.live.conftest import Build, session

BUCKET = "test-internal-123456789012"


def rule(prefix: str | None, **effect: Any) -> dict[str, Any]:
    return {"ID": "tidy", "Status": "Enabled", "Filter": {"Prefix": prefix or ""}, **effect}


def archive(storage_class: str) -> list[dict[str, Any]]:
    return [{"Days": 30, "StorageClass": storage_class}]


REACHING = [
    (rule("", Expiration={"Days": 30}), "deletes datasets"),
    (rule("data", Expiration={"Days": 30}), "deletes datasets"),
    (rule("datasets/files/", Transitions=archive("GLACIER")), "archives datasets"),
    (rule("", Transitions=archive("DEEP_ARCHIVE")), "archives datasets"),
]
OTHERS = [
    rule("results/", Expiration={"Days": 30}),
    rule("", Expiration={"Days": 30}) | {"Status": "Disabled"},
    rule("", Transitions=archive("INTELLIGENT_TIERING")),
    rule("", NoncurrentVersionExpiration={"NoncurrentDays": 30}),
    rule("", Expiration={"Days": 30}) | {"Filter": {"Tag": {"Key": "temporary", "Value": "yes"}}},
]


def looked_at(cloud: EmulatorProcess, build: Build) -> list[Finding]:
    loaded = build()
    assert loaded.environment is not None
    aws = AwsClient("us-east-1", cloud.endpoint, session(cloud.operator_credentials))
    return list(bucket_lifecycle(Scene(loaded.environment, None, aws, "123456789012", datetime.now(UTC))))


def looked(cloud: EmulatorProcess, build: Build, rules: list[dict[str, Any]]) -> list[Finding]:
    client = client_of(cloud, "s3")
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_lifecycle_configuration(Bucket=BUCKET, LifecycleConfiguration={"Rules": rules})
    return looked_at(cloud, build)


@pytest.mark.parametrize(("reaching", "words"), REACHING)
def test_a_rule_that_reaches_datasets_is_a_warning(
    cloud: EmulatorProcess, build: Build, reaching: dict[str, Any], words: str
) -> None:
    (finding,) = looked(cloud, build, [reaching])
    assert finding.severity is Severity.WARNING and words in finding.message and "tidy" in finding.message


def test_other_rules_and_buckets_without_rules_are_none(cloud: EmulatorProcess, build: Build) -> None:
    assert looked_at(cloud, build) == []
    assert looked(cloud, build, OTHERS) == []
