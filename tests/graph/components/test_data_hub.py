"""Buckets of data classes with replication, object lock and expiry."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.aws.storage.data_hub import replication_policy, replication_trust
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import EmulatedAws, ProviderError
from sandbox.pulumi_provider.aws.storage.s3 import (
    BucketObjectLockConfigurationResource,
    BucketReplicationConfigResource,
    BucketResource,
    BucketVersioningResource,
)
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import apply
from tests.graph.components.pools.test_network_and_pools import wrong
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import PROTECTED, graph_of
from tests.graph.support.file_system_settings import HUB
from tests.graph.support.inventory import client, left

S3 = "aws:s3/"
LOCK = f"{S3}bucketObjectLockConfiguration:BucketObjectLockConfiguration"
VERSIONING = f"{S3}bucketVersioning:BucketVersioning"
COPY = f"{S3}bucketReplicationConfig:BucketReplicationConfig"
RULES = f"{S3}bucketLifecycleConfiguration:BucketLifecycleConfiguration"


def internal(keys: str) -> tuple[str, str]:
    """Return a change of the sandbox's data hub: more keys of the class `internal`."""
    return HUB, f"      data_hub: {{kind: s3, classes: {{internal: {{{keys}}}}}}}\n"


COPIED = internal("replica_region: us-west-2")


@pytest.fixture
def in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def of_hub(graph: Graph) -> dict[str, Any]:
    kinds = (S3, "aws:kms/", "aws:iam/role")
    return {key: node for key, node in graph.nodes.items() if "DataHub" in key and node.type.startswith(kinds)}


@pytest.mark.usefixtures("in_the_tree")
def test_optional_resources_are_absent_by_default(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    assert graph.of_type(LOCK) == graph.of_type(COPY) == []
    (lifecycle,) = graph.of_type(RULES)
    assert [rule["id"] for rule in lifecycle.inputs["rules"]] == ["old-versions"]
    assert not any("region" in node.inputs for node in of_hub(graph).values())


@pytest.mark.usefixtures("in_the_tree")
def test_more_options_do_not_change_existing_resources(tmp_path: Path) -> None:
    before = of_hub(graph_of(tmp_path))
    after = of_hub(graph_of(tmp_path, internal("replica_region: us-west-2, object_lock: {days: 35}")))
    assert {key: node.inputs for key, node in before.items()} == {key: after[key].inputs for key in before}


@pytest.mark.usefixtures("in_the_tree")
@pytest.mark.parametrize("preview", [True, False])
def test_the_replica_has_the_same_protection_in_another_region(tmp_path: Path, preview: bool) -> None:
    graph = graph_of(tmp_path, COPIED, PROTECTED, preview=preview)
    assert wrong(graph) == {}
    copies = {node.type: node for node in of_hub(graph).values() if node.name == "variant-internal-replica"}
    first = {node.type for node in of_hub(graph).values() if node.name == "variant-internal"}
    assert first < set(copies) and len(first) == 9
    for token, node in copies.items():
        assert node.protect, token
        # The replication rule is on the first bucket, and a role has no region.
        assert node.inputs.get("region") == (None if token == COPY or "iam" in token else "us-west-2"), token
    (rule,) = copies[COPY].inputs["rules"]
    assert rule["deleteMarkerReplication"] == {"status": "Disabled"}
    assert rule["sourceSelectionCriteria"] == {"sseKmsEncryptedObjects": {"status": "Enabled"}}
    if not preview:
        arn = "arn:aws:test:us-east-1:123456789012:variant-internal-replica"
        assert rule["destination"] == {"bucket": arn, "encryptionConfiguration": {"replicaKmsKeyId": arn}}
        assert copies[COPY].inputs["bucket"] == "variant-internal-id"


@pytest.mark.usefixtures("in_the_tree")
def test_the_replica_has_the_object_lock_too(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, internal("replica_region: us-west-2, object_lock: {days: 35, mode: compliance}"))
    assert wrong(graph) == {}
    for node in graph.of_type(LOCK):
        assert node.inputs["rule"] == {"defaultRetention": {"mode": "COMPLIANCE", "days": 35}}
    assert {node.name for node in graph.of_type(LOCK)} == {"variant-internal", "variant-internal-replica"}


@pytest.mark.usefixtures("in_the_tree")
def test_objects_are_tiered_and_expire_as_configured(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, internal("tiering_days: 30, expire_days: 400"))
    assert wrong(graph) == {}
    rules = {rule["id"]: rule for rule in graph.of_type(RULES)[0].inputs["rules"]}
    assert rules["tiering"]["transitions"] == [{"days": 30, "storageClass": "INTELLIGENT_TIERING"}]
    assert rules["expiry"]["expiration"] == {"days": 400}
    assert rules["old-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 30}


def test_the_replication_role_reads_one_bucket_and_writes_the_other() -> None:
    source, destination = "arn:aws:s3:::one", "arn:aws:s3:::other"
    statements = json.loads(replication_policy(source, "key1", destination, "key2", places=("us-east-1", "us-west-2")))[
        "Statement"
    ]
    allowed = {(action, statement["Resource"]) for statement in statements for action in _listed(statement["Action"])}
    assert ("s3:ReplicateObject", f"{destination}/*") in allowed and ("kms:Decrypt", "key1") in allowed
    assert not any(action in ("s3:ReplicateDelete", "s3:DeleteObject", "s3:PutObject") for action, _ in allowed)
    assert {resource for action, resource in allowed if action.startswith("s3:Get")} == {source, f"{source}/*"}
    conditions = {statement["Resource"]: statement.get("Condition") for statement in statements}
    assert conditions["key2"] == {"StringEquals": {"kms:ViaService": "s3.us-west-2.amazonaws.com"}}
    (trust,) = json.loads(replication_trust("123456789012", source))["Statement"]
    assert trust["Condition"]["ArnLike"] == {"aws:SourceArn": source}


def test_replication_needs_buckets_with_versioning(cloud: EmulatorProcess) -> None:
    api, before = EmulatedAws(cloud.endpoint, "us-east-1"), left(cloud)
    BucketResource(api).create({"bucket": "copy-from"})
    destination = {"destination": {"bucket": "arn:aws:s3:::copy-from"}}
    rules = [{"id": "a", "status": "Enabled", **destination}]
    with pytest.raises(ProviderError, match="versioning"):
        BucketReplicationConfigResource(api).create({"bucket": "copy-from", "role": "arn", "rules": rules})
    BucketResource(api).delete("copy-from", {})
    assert left(cloud) == before


def test_replication_of_locked_objects_needs_a_destination_with_object_lock(cloud: EmulatorProcess) -> None:
    api, before = EmulatedAws(cloud.endpoint, "us-east-1"), left(cloud)
    for name in ("lock-from", "lock-to"):
        BucketResource(api).create({"bucket": name})
        BucketVersioningResource(api).create({"bucket": name, "versioningConfiguration": {"status": "Enabled"}})
    lock = {"rule": {"defaultRetention": {"mode": "GOVERNANCE", "days": 3}}}
    replication = {"bucket": "lock-from", "role": "arn:aws:iam::123456789012:role/copy"}
    rules = [{"id": "a", "status": "Enabled", "destination": {"bucket": "arn:aws:s3:::lock-to"}}]
    BucketReplicationConfigResource(api).create({**replication, "rules": rules})
    BucketObjectLockConfigurationResource(api).create({"bucket": "lock-from", **lock})
    with pytest.raises(ProviderError, match="DstBucketObjectLockConfigMissing"):
        BucketReplicationConfigResource(api).create({**replication, "rules": rules})
    BucketObjectLockConfigurationResource(api).create({"bucket": "lock-to", **lock})
    BucketReplicationConfigResource(api).create({**replication, "rules": rules})
    for name in ("lock-from", "lock-to"):
        BucketResource(api).delete(name, {})
    assert left(cloud) == before


@pytest.mark.usefixtures("in_the_tree")
def test_replication_depends_on_versioning_and_object_lock_of_both_buckets(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, internal("replica_region: us-west-2, object_lock: {days: 35}"))
    (copy,) = graph.of_type(COPY)
    before = {(node.type, node.name) for node in graph.nodes.values() if node.key in copy.dependencies}
    for token in (LOCK, VERSIONING):
        assert {name for kind, name in before if kind == token} == {"variant-internal", "variant-internal-replica"}


def test_a_replica_is_created_in_the_other_region_and_destroyed(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    change = internal("replica_region: us-west-2, object_lock: {days: 3}, tiering_days: 0, expire_days: 9")
    environment_file.write_text(environment_file.read_text().replace(*change))
    before, s3 = left(cloud), client(cloud, "s3")
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    name = applied.outputs.data_hub.buckets["internal"].name
    (rule,) = s3.get_bucket_replication(Bucket=name)["ReplicationConfiguration"]["Rules"]
    copy = rule["Destination"]["Bucket"].rpartition(":")[2]
    assert s3.get_bucket_location(Bucket=copy)["LocationConstraint"] == "us-west-2"
    assert ":us-west-2:" in rule["Destination"]["EncryptionConfiguration"]["ReplicaKmsKeyID"]
    for bucket in (name, copy):
        lock = s3.get_object_lock_configuration(Bucket=bucket)["ObjectLockConfiguration"]
        default = lock["Rule"]["DefaultRetention"]
        assert (default["Mode"], default["Days"]) == ("GOVERNANCE", 3)
    applied.destroy()
    assert left(cloud) == before


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
