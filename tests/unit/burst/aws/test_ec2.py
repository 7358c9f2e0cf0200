"""The EC2 client of burst against the emulated AWS: launch, description, termination and errors."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.config.config import BurstConfig
from landbridge.burst.model import ActionOutcome, BurstPolicy, InstanceEnd, Offering
from landbridge.burst.model.errors import AwsError, ErrorKind, classify
from landbridge.hostlist import compress
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.burst.launches import TAGS, attempt


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the waits between the client's retries."""
    waits: list[float] = []
    monkeypatch.setattr("landbridge.burst.aws.ec2.time.sleep", waits.append)
    return waits


def failing(call: Callable[[], Any]) -> AwsError:
    with pytest.raises(AwsError) as caught:
        call()
    return caught.value


def test_node_names_come_from_the_tags_of_the_launch(cloud: EmulatorProcess, shell: Ec2, offering: Offering) -> None:
    before = time.time()
    # In Slurm's order; the order in the tag decides.
    outcome = shell.run(attempt("p5-10", "p5-2", "p5-3"), offering, TAGS, True)
    assert set(outcome.instances) == {"p5-2", "p5-3", "p5-10"} and not outcome.code
    assert cloud.control()["calls"]["RunInstances"] == 1 and "CreateTags" not in cloud.control()["calls"]
    view = shell.view()
    assert {instance.node: instance.id for instance in view.instances} == outcome.instances
    assert {instance.node: instance.address for instance in view.instances} == outcome.addresses
    instance = view.instances[0]
    assert (instance.pool, instance.token, instance.jobs, instance.account, instance.lease) == (
        "p5",
        "lb-1",
        (7, 8),
        "vision",
        1_800_000_000.0,
    )
    assert (instance.state, instance.subnet, instance.type, instance.market) == (
        "running",
        offering.subnet,
        "p5.48xlarge",
        "on-demand",
    )
    assert before <= view.at <= time.time() and before - 1 <= instance.launched <= time.time()
    tags = cloud.control()["instances"][0]["tags"]
    assert tags["landbridge:nodes"] == "p5-[02-03,10]" or tags["landbridge:nodes"] == compress(
        ["p5-2", "p5-3", "p5-10"]
    )


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        (
            "Client.VolumeLimitExceeded: Volume limit exceeded",
            InstanceEnd("Client.VolumeLimitExceeded", "Volume limit exceeded"),
        ),
        ("Server.InternalError", InstanceEnd("Server.InternalError")),
    ],
)
def test_the_reason_for_the_end_of_an_accepted_launch_is_read(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering, reason: str, end: InstanceEnd
) -> None:
    ids = shell.run(attempt("p5-1", "p5-2"), offering, TAGS, True).instances
    cloud.control(end={ids["p5-1"]: reason})
    view = shell.view([*ids.values(), "i-0123456789abcdef0"])
    assert [instance.id for instance in view.instances] == [ids["p5-2"]] and view.ended == {ids["p5-1"]: end}
    assert cloud.control()["calls"]["DescribeInstances"] == 2
    assert shell.view([ids["p5-2"]]).ended == {} and cloud.control()["calls"]["DescribeInstances"] == 3


def test_a_repeated_attempt_starts_no_further_instance(cloud: EmulatorProcess, shell: Ec2, offering: Offering) -> None:
    first = shell.run(attempt("p5-1", "p5-2"), offering, TAGS, True)
    assert shell.run(attempt("p5-1", "p5-2"), offering, TAGS, True) == first
    assert len(cloud.control()["instances"]) == 2


def test_a_repeated_attempt_with_a_changed_offering_returns_the_instances_of_the_first_call(
    cloud: EmulatorProcess,
    shell: Ec2,
    offering: Offering,
) -> None:
    first = shell.run(attempt("p5-1"), offering, TAGS, True)
    changed = replace(offering, security_groups=())
    assert shell.run(attempt("p5-1"), changed, TAGS, True) == first
    shell.terminate(first.instances.values())
    assert len(cloud.control()["instances"]) == 1


def test_a_launch_of_all_or_nothing_without_capacity_starts_nothing_and_is_not_retried(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering
) -> None:
    cloud.control(pool={"p5.48xlarge/use1-az4": 2})
    problem = failing(lambda: shell.run(attempt("p5-1", "p5-2", "p5-3"), offering, TAGS, True))
    assert (problem.code, problem.kind) == ("InsufficientInstanceCapacity", ErrorKind.CAPACITY)
    # HTTP 500, which botocore would retry by default.
    assert cloud.control()["calls"]["RunInstances"] == 1 and cloud.control()["instances"] == []


def test_a_launch_of_single_nodes_starts_as_many_as_have_capacity(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering
) -> None:
    cloud.control(pool={"p5.48xlarge/use1-az4": 2})
    outcome = shell.run(attempt("p5-1", "p5-2", "p5-3"), offering, TAGS, False)
    assert set(outcome.instances) == {"p5-1", "p5-2"}


@pytest.mark.parametrize("after", [False, True])
def test_a_call_with_a_lost_response_is_repeated_and_launches_once(
    cloud: EmulatorProcess,
    shell: Ec2,
    offering: Offering,
    slept: list[float],
    after: bool,
) -> None:
    cloud.control(faults={"RunInstances": {"cut": True, "after": after}})
    outcome = shell.run(attempt("p5-1"), offering, TAGS, True)
    assert [instance["id"] for instance in cloud.control()["instances"]] == list(outcome.instances.values())
    assert len(slept) == 1


def test_a_throttled_call_is_retried_a_few_times(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering, slept: list[float]
) -> None:
    cloud.control(faults={"RunInstances": {"code": "RequestLimitExceeded", "status": 503, "times": 2}})
    assert shell.run(attempt("p5-1"), offering, TAGS, True).instances
    cloud.control(faults={"RunInstances": {"code": "RequestLimitExceeded", "status": 503, "times": 9}})
    assert failing(lambda: shell.run(attempt("p5-2", token="lb-2"), offering, TAGS, True)).kind is ErrorKind.THROTTLE
    assert len(slept) == 2 + 3 and all(0 < wait < 3 for wait in slept)


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "VcpuLimitExceeded", "InvalidLaunchTemplateId.NotFound"])
def test_an_error_that_no_wait_repairs_is_not_retried(
    cloud: EmulatorProcess,
    shell: Ec2,
    offering: Offering,
    slept: list[float],
    code: str,
) -> None:
    cloud.control(faults={"RunInstances": {"code": code, "status": 403}})
    assert failing(lambda: shell.run(attempt("p5-1"), offering, TAGS, True)).code == code
    assert slept == []


def test_no_network_is_an_error_with_a_kind(cloud: EmulatorProcess, offering: Offering, slept: list[float]) -> None:
    policy = BurstPolicy("sandbox", "us-east-1", {}, {})
    nowhere = Ec2(BurstConfig(policy, "http://127.0.0.1:9", str(cloud.launch_credentials)))
    assert failing(nowhere.view).kind is ErrorKind.NETWORK
    assert failing(lambda: nowhere.run(attempt("p5-1"), offering, TAGS, True)).kind is ErrorKind.NETWORK


def test_a_file_without_keys_is_a_failure_of_credentials(
    cloud: EmulatorProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    empty = tmp_path / "empty"
    empty.write_text("[default]\n")
    none = Ec2(BurstConfig(BurstPolicy("sandbox", "us-east-1", {}, {}), cloud.endpoint, str(empty)))
    assert failing(none.view).kind is ErrorKind.CREDENTIALS


def test_launch_and_termination_use_separate_profiles(
    cloud: EmulatorProcess, offering: Offering, tmp_path: Path
) -> None:
    keys = cloud.launch_credentials.read_text()
    both = tmp_path / "both"
    both.write_text(keys + "\n[terminate]\naws_access_key_id = AKIANOBODY0000000000\naws_secret_access_key = x\n")
    shell = Ec2(BurstConfig(BurstPolicy("sandbox", "us-east-1", {}, {}), cloud.endpoint, str(both)))
    outcome = shell.run(attempt("p5-1"), offering, TAGS, True)
    assert classify(shell.terminate(outcome.instances.values()).code) is ErrorKind.CREDENTIALS
    shell.renew(outcome.instances.values(), 1_800_003_600.0)


def test_the_view_has_all_pages_and_only_nodes_of_the_cluster(
    cloud: EmulatorProcess,
    shell: Ec2,
    offering: Offering,
    ec2: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from landbridge.burst.model.errors import facts

    monkeypatch.setitem(facts()["calls"], "describe", 5)
    names = [f"p5-{number}" for number in range(1, 13)]
    shell.run(attempt(*names), offering, TAGS, True)
    shell.run(attempt("p5-1", token="lb-9"), offering, {"landbridge:cluster": "another"}, True)
    # An instance of the cluster that is not a node: a login host.
    nics = [{"DeviceIndex": 0, "SubnetId": offering.subnet}]
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "landbridge:cluster", "Value": "sandbox"}]}]
    ec2.run_instances(
        LaunchTemplate={"LaunchTemplateId": offering.launch_template_id},
        MinCount=1,
        MaxCount=1,
        NetworkInterfaces=nics,
        TagSpecifications=tags,
    )
    assert sorted(instance.node for instance in shell.view().instances) == sorted(names)
    assert cloud.control()["calls"]["DescribeInstances"] == 3


def test_terminated_and_unknown_instances_do_not_stop_a_call_for_others(
    cloud: EmulatorProcess,
    shell: Ec2,
    offering: Offering,
) -> None:
    outcome = shell.run(attempt("p5-1", "p5-2"), offering, TAGS, True)
    ids = [*outcome.instances.values(), "i-0123456789abcdef0"]
    shell.renew(ids, 1_800_003_600.0)
    assert {instance.lease for instance in shell.view().instances} == {1_800_003_600.0}
    assert shell.terminate(ids) == shell.terminate(ids) == ActionOutcome()
    assert shell.view().instances == ()
    assert {instance["state"] for instance in cloud.control()["instances"]} == {"terminated"}


def test_a_protected_instance_shields_no_other_of_the_call(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering, ec2: Any
) -> None:
    outcome = shell.run(attempt(*(f"p5-{number}" for number in range(1, 9))), offering, TAGS, True)
    protected = outcome.instances["p5-3"]
    ec2.modify_instance_attribute(InstanceId=protected, DisableApiTermination={"Value": True})
    refused = shell.terminate(outcome.instances.values()).refused
    assert {id: code for id, (code, _) in refused.items()} == {protected: "OperationNotPermitted"}
    assert [instance.id for instance in shell.view().instances] == [protected]


def test_two_clients_need_little_memory(cloud: EmulatorProcess) -> None:
    # The controller's host has no pyOpenSSL, which urllib3 imports where it is installed: 12 MB.
    program = (
        "import sys; sys.modules['OpenSSL'] = None\n"
        "from landbridge.burst.aws.client import clients\n"
        f"clients('us-east-1', {cloud.endpoint!r}, {str(cloud.launch_credentials)!r}, ('default', 'terminate'))\n"
        "print(int(open('/proc/self/statm').read().split()[1]) * 4096 // 2**20)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 45
