"""The same graph without an engine: applied to the emulated AWS in this process, and destroyed."""

from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import EmulatedAws, ProviderError
from sandbox.pulumi_provider.aws.compute.launch_templates import PlacementGroupResource
from sandbox.pulumi_provider.recorder import apply
from tests.graph.conftest import ROOT
from tests.graph.support.inventory import client, left


def test_apply_and_destroy(cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    before, created_names = left(cloud), list[str]()
    applied = apply(environment_file, cloud.endpoint, "us-east-1", lambda token, name: created_names.append(name))
    assert "graph-p5" in created_names and left(cloud)["launch templates"] != before["launch templates"]

    # The data hub accepts objects with its key, and refuses others.
    bucket, s3 = applied.outputs.data_hub.buckets["internal"], client(cloud, "s3")
    s3.put_object(Bucket=bucket.name, Key="a", Body=b"1")
    s3.put_object(Bucket=bucket.name, Key="b", Body=b"1", ServerSideEncryption="aws:kms", SSEKMSKeyId=bucket.key_arn)
    with pytest.raises(ClientError, match="403"):
        s3.put_object(Bucket=bucket.name, Key="c", Body=b"1", ServerSideEncryption="AES256")

    assert applied.destroy() == len(created_names)
    assert left(cloud) == before


def test_a_failure_leaves_nothing(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    # Make the emulated AWS refuse one resource: its name exists already.
    before = left(cloud)
    placement_group = PlacementGroupResource(EmulatedAws(cloud.endpoint, "us-east-1"))
    placement_group.create({"name": "graph-p5-use1-az4", "strategy": "cluster"})
    try:
        with pytest.raises(ClientError, match="Duplicate"):
            apply(environment_file, cloud.endpoint, "us-east-1")
    finally:
        placement_group.delete("graph-p5-use1-az4", {})
    assert left(cloud) == before


def test_the_stand_in_never_talks_to_the_real_aws() -> None:
    with pytest.raises(ProviderError, match="emulated AWS"):
        EmulatedAws("https://ec2.us-east-1.amazonaws.com", "us-east-1")
