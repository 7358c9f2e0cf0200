"""EC2 of several regions as one client: each region gets its own calls, and a region without a response blocks no
other."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from landbridge.burst.aws.regions import MAX_STALE_SECONDS, Ec2Regions, ec2_of_regions
from landbridge.burst.aws.unattached import UnattachedResource
from landbridge.burst.config.config import BurstConfig
from landbridge.burst.model import (
    ActionOutcome,
    Attempt,
    BurstPolicy,
    CloudInstance,
    Ec2View,
    InstanceEnd,
    Offering,
    PoolPolicy,
)
from landbridge.burst.model.errors import AwsError
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import IMAGE, Stack, client_of
from tests.unit.burst import launches
from tests.unit.burst.situations import NOW, instance, offering

FAR = "r-2"
NEAR, AWAY = offering("a"), offering("z", region=FAR)


class StubRegion:
    """Stub of a region: its instances, the recorded calls, and whether it responds."""

    def __init__(self, *instances: CloudInstance) -> None:
        self.instances, self.calls, self.down = instances, list[Any](), False
        self.refused: dict[str, tuple[str, str]] = {}
        self.ends: dict[str, InstanceEnd] = {}

    def _record(self, *call: Any) -> None:
        self.calls.append(call)
        if self.down:
            raise AwsError("EndpointConnectionError", "no route")

    def view(self, expected: Collection[str] = ()) -> Ec2View:
        self._record("view", *sorted(expected))
        return Ec2View(NOW, self.instances, {id: self.ends[id] for id in expected if id in self.ends})

    def run(self, attempt: Attempt, offering: Offering, tags: Any, all_or_nothing: bool) -> ActionOutcome:
        self._record("run", offering.key)
        return ActionOutcome(instances={node: f"i-{offering.region or 'home'}-{node}" for node in attempt.nodes})

    def terminate(self, ids: Any) -> ActionOutcome:
        self.calls.append(("terminate", *ids))
        code = "EndpointConnectionError" if self.down else ""
        return ActionOutcome(code, refused={id: self.refused[id] for id in ids if id in self.refused})

    def renew(self, ids: Any, until: float) -> None:
        self._record("renew", *ids)

    def unattached(self) -> list[UnattachedResource]:
        self._record("unattached")
        return [UnattachedResource("volume", f"vol-{len(self.instances)}", "gpu", "lb-1")]

    def delete(self, resource: UnattachedResource) -> None:
        self._record("delete", resource.id)


@pytest.fixture
def pair() -> tuple[StubRegion, StubRegion, Ec2Regions, list[float]]:
    home = StubRegion(instance("i-1", "g-1"))
    away = StubRegion(replace(instance("i-2", "g-2"), region=FAR), replace(instance("i-3", "g-3"), region=FAR))
    now = [0.0]
    return home, away, Ec2Regions(home, {FAR: away}, lambda: now[0]), now


def test_instances_of_all_regions_are_described_and_terminated_in_their_own_region(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    home, away, both, _ = pair
    assert [instance.id for instance in both.view().instances] == ["i-1", "i-2", "i-3"]
    both.terminate(["i-1", "i-3", "i-2"])
    both.renew(["i-2"], NOW)
    assert home.calls[1:] == [("terminate", "i-1")]
    assert away.calls[1:] == [("terminate", "i-3", "i-2"), ("renew", "i-2")]


def test_a_new_instance_is_terminated_in_the_region_of_its_launch(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    """A gang of several calls is terminated before any view shows its instances."""
    home, away, both, _ = pair
    both.run(launches.attempt("g-5"), AWAY, {}, True)
    both.terminate(["i-r-2-g-5"])
    assert home.calls == [] and away.calls[-1] == ("terminate", "i-r-2-g-5")
    # The region stays known while EC2 does not show the instance yet.
    both.view()
    both.terminate(["i-r-2-g-5"])
    assert home.calls == [("view",)] and away.calls[-1] == ("terminate", "i-r-2-g-5")


def test_the_end_of_an_instance_is_read_in_its_region_or_in_every_region(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    home, away, both, _ = pair
    both.run(launches.attempt("g-5"), AWAY, {}, True)
    away.ends = {"i-r-2-g-5": InstanceEnd("Client.InternalError"), "i-old": InstanceEnd("Client.InternalError", "x")}
    assert both.view(("i-r-2-g-5", "i-old")).ended == away.ends
    assert home.calls == [("view", "i-old")] and away.calls[1:] == [("view", "i-old", "i-r-2-g-5")]


def test_an_instance_of_unknown_region_is_terminated_in_every_region(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    home, away, both, now = pair
    both.run(launches.attempt("g-5"), AWAY, {}, True)
    now[0] = MAX_STALE_SECONDS
    both.view()
    both.terminate(["i-r-2-g-5", "i-1"])
    assert home.calls[-2:] == [("terminate", "i-1"), ("terminate", "i-r-2-g-5")]
    assert away.calls[-1] == ("terminate", "i-r-2-g-5")
    # A region without the instance may refuse; it is a failure only if every region refuses.
    home.down = True
    assert both.terminate(["i-r-2-g-5"]) == ActionOutcome()
    away.down = True
    assert both.terminate(["i-r-2-g-5"]).code == "EndpointConnectionError"


def test_an_instance_of_unknown_region_is_refused_if_every_region_refuses_it(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    home, away, both, _ = pair
    both.view()
    away.refused = dict.fromkeys(("i-2", "i-9"), ("OperationNotPermitted", "x"))
    assert set(both.terminate(["i-1", "i-2", "i-3", "i-9"]).refused) == {"i-2"}
    home.refused = {"i-9": ("UnauthorizedOperation", "x")}
    assert set(both.terminate(["i-9"]).refused) == {"i-9"}


def test_a_failure_in_one_region_does_not_keep_the_call_from_the_other(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    home, away, both, _ = pair
    both.view()
    home.down = True
    assert both.terminate(["i-1", "i-2"]).code == "EndpointConnectionError"
    assert away.calls[-1] == ("terminate", "i-2")


def test_a_region_that_does_not_answer_keeps_its_last_view_for_a_while(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    _, away, both, now = pair
    both.view()
    away.down, now[0] = True, MAX_STALE_SECONDS
    assert [instance.id for instance in both.view().instances] == ["i-1", "i-2", "i-3"]
    both.terminate(["i-1"])
    now[0] = MAX_STALE_SECONDS + 1
    with pytest.raises(AwsError):
        both.view()


def test_the_view_fails_if_a_region_was_never_seen_or_the_own_region_does_not_respond(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    home, away, both, _ = pair
    away.down = True
    with pytest.raises(AwsError):
        both.view()
    away.down = False
    both.view()
    home.down = True
    with pytest.raises(AwsError):
        both.view()


def test_unattached_resources_are_deleted_in_their_own_region(
    pair: tuple[StubRegion, StubRegion, Ec2Regions, list[float]],
) -> None:
    home, away, both, _ = pair
    home_volume, away_volume = both.unattached()
    both.delete(away_volume)
    both.delete(home_volume)
    assert away.calls[-1] == ("delete", "vol-2") and home.calls[-1] == ("delete", "vol-1")
    away.down = True
    assert both.unattached() == [home_volume]


# Two regions of the emulated AWS.


@pytest.fixture
def ohio(cloud: EmulatorProcess) -> Stack:
    """Create the resources of us-east-2 that Pulumi would create."""
    client = client_of(cloud, "ec2", region="us-east-2")
    vpc = client.create_vpc(CidrBlock="10.70.0.0/16")["Vpc"]["VpcId"]
    zones = ("use2-az1", "use2-az2")
    subnets = [
        client.create_subnet(VpcId=vpc, CidrBlock=f"10.70.{64 * i}.0/18", AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
        for i, zone in enumerate(zones)
    ]
    group = client.create_security_group(GroupName="p5", Description="p5", VpcId=vpc)["GroupId"]
    data = {"ImageId": IMAGE, "InstanceType": "p5.48xlarge"}
    template = client.create_launch_template(LaunchTemplateName="sandbox-p5", LaunchTemplateData=data)
    return Stack(vpc, (subnets[0], subnets[1]), group, template["LaunchTemplate"]["LaunchTemplateId"])


def test_a_gang_is_launched_described_renewed_and_terminated_in_the_other_region(
    cloud: EmulatorProcess, stack: Stack, ohio: Stack
) -> None:
    home = launches.offering(stack.subnets[0], stack.template, stack.group)
    away = replace(
        launches.offering(ohio.subnets[0], ohio.template, ohio.group),
        key="p5.48xlarge/use2-az1/on-demand",
        zone="use2-az1",
        region="us-east-2",
    )
    policy = BurstPolicy("sandbox", "us-east-1", {"p5": PoolPolicy("p5", "p5-", 1000, (home, away))}, {})
    both = ec2_of_regions(BurstConfig(policy, cloud.endpoint, str(cloud.launch_credentials)))
    home_outcome = both.run(launches.attempt("p5-1", token="lb-1"), home, launches.TAGS, True)
    away_outcome = both.run(launches.attempt("p5-2", "p5-3", token="lb-2"), away, launches.TAGS, True)
    repeated = both.run(launches.attempt("p5-2", "p5-3", token="lb-2"), away, launches.TAGS, True)
    assert repeated.instances == away_outcome.instances and len(away_outcome.instances) == 2
    seen = {instance.id: (instance.node, instance.region) for instance in both.view().instances}
    assert seen == {
        home_outcome.instances["p5-1"]: ("p5-1", ""),
        away_outcome.instances["p5-2"]: ("p5-2", "us-east-2"),
        away_outcome.instances["p5-3"]: ("p5-3", "us-east-2"),
    }
    both.renew(seen, NOW)
    assert {instance.lease for instance in both.view().instances} == {NOW}
    both.terminate(away_outcome.instances.values())
    assert [instance.id for instance in both.view().instances if instance.state == "running"] == [
        home_outcome.instances["p5-1"]
    ]
