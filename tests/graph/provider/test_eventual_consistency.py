"""AWS under load that shows resources late: the provider waits, as the real one does. Without an engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws
from sandbox.pulumi_provider.graph import record
from sandbox.pulumi_provider.partial_creation import PartialCreation, create
from sandbox.pulumi_provider.program import program_of
from tests.graph.conftest import ROOT
from tests.graph.support.apply_without_engine import Making


@pytest.fixture
def emptied(cloud: EmulatorProcess) -> Iterator[EmulatorProcess]:
    yield cloud
    cloud.control(wipe=True)


def test_throttled_calls_and_calls_for_invisible_resources_are_repeated(
    emptied: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    busy = {"code": "RequestLimitExceeded", "status": 503, "times": 3}
    throttling = {"code": "Throttling", "status": 400, "times": 3}
    emptied.control(faults={"CreateVpc": busy, "CreateSubnet": busy, "CreateRole": throttling}, lag=2)
    program, stack, config = program_of(environment_file)
    graph = record(program, stack=stack, config=config, backing=Making(emptied, "us-east-1"), preview=False)
    assert len(graph.nodes) > 40
    errors = emptied.control()["errors"]
    assert errors["RequestLimitExceeded"] == 6 and errors["Throttling"] == 3
    # A subnet in the new VPC, a route over the new attachment, a profile with the new role: each had to wait.
    assert {"InvalidVpcID.NotFound", "InvalidTransitGatewayAttachmentID.NotFound", "NoSuchEntity"} <= set(errors)


def test_a_creation_that_fails_halfway_is_reported_with_its_id(emptied: EmulatorProcess) -> None:
    connection = EmulatedAws(emptied.endpoint, "us-east-1")
    inputs = {"cidrBlock": "10.9.0.0/16", "enableDnsHostnames": True}
    emptied.control(faults={"ModifyVpcAttribute": {"code": "OperationNotPermitted", "message": "not now"}})
    vpc = RESOURCE_TYPES["aws:ec2/vpc:Vpc"]
    with pytest.raises(PartialCreation, match="not now") as caught:
        create(vpc(connection), inputs)
    assert caught.value.id.startswith("vpc-") and vpc(connection).read(caught.value.id, inputs) is not None
