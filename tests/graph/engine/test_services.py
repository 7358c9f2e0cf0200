"""Services in AWS under Pulumi's real engine: updates in place, a replaced controller, and destroy."""

from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.cloud_only_environment import write
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine, pytest.mark.long]


def changed(file: Path, *changes: tuple[str, str]) -> Environment:
    text = file.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file.write_text(text)
    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


def done(run: pulumi.OperationResult) -> set[tuple[str, str]]:
    """Return the finished steps by resource."""
    return {(step.operation, step.name) for step in run.steps if step.phase == "done" and step.changes}


def test_life_of_a_cluster_without_a_site(engine: Engine, cloud: EmulatorProcess, tmp_path: Path) -> None:
    before, ec2 = left(cloud), client(cloud, "ec2")
    file = write(tmp_path, "graph", endpoint=cloud.endpoint)
    environment = changed(file)
    built = pulumi.up(environment, file)
    assert set(built.changes) == {"create"} and built.outputs is not None and built.outputs.services is not None
    served = built.outputs.services
    controller = served.hosts["ctl01"].instance_id
    assert served.hosts["login01"].address == "10.60.128.17" and served.database.address.endswith("rds.amazonaws.com")

    def host(instance_id: str) -> Any:
        return ec2.describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"][0]

    def state() -> Any:
        (volume,) = ec2.describe_volumes(VolumeIds=[served.state_volume_id])["Volumes"]
        return volume["Size"], [attachment["InstanceId"] for attachment in volume["Attachments"]], volume["Encrypted"]

    assert host(controller)["PrivateIpAddress"] == "10.60.128.16" and state() == (50, [controller], True)
    assert done(pulumi.up(environment, file)) == set()
    assert done(pulumi.refresh(environment, file)) == set()

    # A larger host, a larger volume, one more login host: existing hosts stay.
    more = changed(
        file,
        ("m7i.large", "m7i.xlarge"),
        ("volume_gib: 50", "volume_gib: 60"),
        ("count: 1", "count: 2"),
    )
    grown = pulumi.up(more, file)
    assert done(grown) == {
        ("update", "graph"),  # the component, whose outputs describe its host
        ("update", "graph-controller"),
        ("update", "graph-controller-state"),
        ("create", "graph-login-login02"),
    }
    assert host(controller)["InstanceType"] == "m7i.xlarge" and state() == (60, [controller], True)

    # The controller is terminated outside Pulumi: the next one has its address and its state volume.
    ec2.terminate_instances(InstanceIds=[controller])
    pulumi.refresh(more, file)
    replaced = pulumi.up(more, file)
    assert replaced.outputs is not None and replaced.outputs.services is not None
    following = replaced.outputs.services.hosts["ctl01"].instance_id
    assert following != controller and host(following)["PrivateIpAddress"] == "10.60.128.16"
    assert replaced.outputs.services.state_volume_id == served.state_volume_id and state() == (60, [following], True)
    assert done(pulumi.up(more, file)) == set()

    pulumi.destroy(more, file)
    assert left(cloud) == before
