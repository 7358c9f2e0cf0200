"""Unattached volumes and network interfaces: which are checked, for how long, and which are deleted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.unattached import (
    CHECK_INTERVAL_SECONDS,
    UnattachedCollector,
    UnattachedKind,
    UnattachedResource,
)
from landbridge.burst.model import BurstPolicy, Offering
from landbridge.burst.model.errors import AwsError
from tests.unit.aws_emulator.conftest import Stack
from tests.unit.burst.launches import TAGS, attempt

BOUND = 300.0
POLICY = BurstPolicy("sandbox", "us-east-1", {}, {}, orphan_seconds=BOUND)
LAUNCHED = {**TAGS, "landbridge:pool": "p5", "landbridge:launch": "lb-1"}


@given(st.lists(st.tuples(st.sets(st.sampled_from("abc")), st.floats(-900, 900)), max_size=12))
def test_only_a_resource_seen_by_every_check_of_the_period_is_collected(checks: list[tuple[set[str], float]]) -> None:
    sweep, now, since = UnattachedCollector(), 1_000_000.0, dict[str, float]()
    for names, later in checks:
        now += later
        since = {name: min(now, since.get(name, now)) for name in names}
        resources = [UnattachedResource("volume", name, "p5", "lb-1") for name in sorted(names)]
        due = {resource.id for resource in sweep.unattached_for(resources, BOUND, now)}
        assert due == {name for name in names if now - since[name] >= BOUND}


def test_a_check_is_due_once_per_interval_and_after_a_clock_was_set_back() -> None:
    sweep = UnattachedCollector()
    assert sweep.due(0.0)
    sweep.checked_at = 1000.0
    assert (
        not sweep.due(1000.0 + CHECK_INTERVAL_SECONDS - 1)
        and sweep.due(1000.0 + CHECK_INTERVAL_SECONDS)
        and sweep.due(999.0)
    )


def volume(ec2: Any, tags: dict[str, str]) -> str:
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    specification = [{"ResourceType": "volume", "Tags": pairs}] if pairs else []
    response = ec2.create_volume(AvailabilityZone="us-east-1a", Size=8, TagSpecifications=specification)
    return str(response["VolumeId"])


def interface(ec2: Any, subnet: str, tags: dict[str, str]) -> str:
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    specification = [{"ResourceType": "network-interface", "Tags": pairs}]
    response = ec2.create_network_interface(SubnetId=subnet, TagSpecifications=specification)
    return str(response["NetworkInterface"]["NetworkInterfaceId"])


def resource_ids(ec2: Any) -> set[str]:
    volumes = {item["VolumeId"] for item in ec2.describe_volumes()["Volumes"]}
    return volumes | {item["NetworkInterfaceId"] for item in ec2.describe_network_interfaces()["NetworkInterfaces"]}


def test_only_unattached_resources_of_launches_are_deleted_after_their_period(
    ec2: Any, stack: Stack, shell: Ec2, offering: Offering
) -> None:
    shell.run(attempt("p5-1"), offering, TAGS, True)
    retained = {
        volume(ec2, {}),
        volume(ec2, {"landbridge:cluster": "sandbox", "Name": "slurm's state"}),
        volume(ec2, {**LAUNCHED, "landbridge:cluster": "another"}),
    }
    unattached = {volume(ec2, LAUNCHED), interface(ec2, stack.subnets[0], LAUNCHED)}
    before, sweep = resource_ids(ec2), UnattachedCollector()
    assert {resource.id for resource in shell.unattached()} == unattached
    assert sweep.sweep(shell, POLICY, 1000.0) == ([], [])
    records, failures = sweep.sweep(shell, POLICY, 1000.0 + BOUND)
    assert failures == [] and {record.details["id"] for record in records} == unattached
    assert {(record.event, record.pool, record.code) for record in records} == {("sweep", "p5", "ORPHANED")}
    assert resource_ids(ec2) == before - unattached and retained <= resource_ids(ec2)
    assert sweep.sweep(shell, POLICY, 9000.0) == ([], [])


class _Seen:
    """The real EC2 client, with a check that still shows one resource."""

    def __init__(self, shell: Ec2, shown: UnattachedResource) -> None:
        self._shown, self.delete = shown, shell.delete

    def unattached(self) -> list[UnattachedResource]:
        return [self._shown]


@pytest.mark.parametrize(("kind", "prefix"), [("volume", "vol"), ("network-interface", "eni")])
def test_an_already_deleted_resource_is_no_failure(shell: Ec2, kind: UnattachedKind, prefix: str) -> None:
    """A resource that another process has deleted is not a failure."""
    deleted = UnattachedResource(kind, f"{prefix}-0123456789abcdef0", "p5", "lb-1")
    sweep, source = UnattachedCollector(), _Seen(shell, deleted)
    sweep.sweep(source, POLICY, 0.0)
    records, failures = sweep.sweep(source, POLICY, BOUND)
    assert failures == [] and [record.details["id"] for record in records] == [deleted.id]


def test_an_attached_volume_is_not_deleted(ec2: Any, shell: Ec2, offering: Offering) -> None:
    shell.run(attempt("p5-1"), offering, TAGS, True)
    (attached,) = [item["VolumeId"] for item in ec2.describe_volumes()["Volumes"] if item["Attachments"]]
    with pytest.raises(AwsError):
        shell.delete(UnattachedResource("volume", attached, "p5", "lb-1"))
    assert attached in resource_ids(ec2)


class Refusing:
    """EC2 that refuses the deletion of one of two volumes."""

    def unattached(self) -> list[UnattachedResource]:
        return [UnattachedResource("volume", name, "p5", "lb-1") for name in ("vol-1", "vol-2")]

    def delete(self, resource: UnattachedResource) -> None:
        if resource.id == "vol-1":
            raise AwsError("UnauthorizedOperation", "no")


def test_a_refused_deletion_does_not_prevent_another() -> None:
    sweep = UnattachedCollector()
    sweep.sweep(Refusing(), POLICY, 0.0)
    records, failures = sweep.sweep(Refusing(), POLICY, BOUND)
    assert [record.details["id"] for record in records] == ["vol-2"]
    assert [error.code for error in failures] == ["UnauthorizedOperation"]
