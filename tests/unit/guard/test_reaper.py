"""The reaper: its decision as a table, and its calls against the emulated AWS."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from hypothesis import given
from hypothesis import strategies as st

from landbridge.guard import package, reaper
from landbridge.guard.reaper import CLUSTER, LEASE, POOL, Instance, Limits, WrongClock, decide
from sandbox.aws_emulator.process import EmulatorProcess, running

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LIMITS = Limits(grace=timedelta(minutes=5), unleased=timedelta(hours=24))
NODES = {CLUSTER: "c", POOL: "p5"}


def node_instance(lease: str | None, age: timedelta = timedelta(hours=1), **tags: str) -> Instance:
    node_tags = NODES if lease is None else {**NODES, LEASE: lease}
    return Instance("i-1", NOW - age, {**node_tags, **tags})


@pytest.mark.parametrize(
    ("instance", "ends", "odd"),
    [
        (node_instance("2026-11-20T13:00:00Z"), False, False),
        (node_instance("2026-11-20T12:00:00Z"), False, False),
        (node_instance("2026-11-20T11:55:01Z"), False, False),  # within its grace period
        (node_instance("2026-11-20T11:55:00Z"), True, False),
        (node_instance("2026-11-19T11:55:00Z"), True, False),
        (node_instance("2026-11-20T12:55:00+01:00"), True, False),
        (node_instance("2026-11-20T11:55:00"), True, False),  # without an offset it is UTC
        (node_instance(" 2026-11-20T11:00:00Z "), True, False),
        (node_instance(None), False, True),
        (node_instance(None, timedelta(hours=24)), True, False),
        (node_instance("", timedelta(hours=23)), False, True),
        (node_instance("tomorrow"), False, True),
        (node_instance("tomorrow", timedelta(days=2)), True, False),
        # A controller or login host of the cluster has no pool tag, so it is not a node.
        (Instance("i-1", NOW - timedelta(days=90), {CLUSTER: "c"}), False, False),
        (Instance("i-1", NOW - timedelta(days=90), {CLUSTER: "c", LEASE: "2020-01-01T00:00:00Z"}), False, False),
        (Instance("i-1", NOW, {}), False, False),
    ],
)
def test_an_instance_is_terminated_after_its_lease_or_reported(instance: Instance, ends: bool, odd: bool) -> None:
    verdict = decide([instance], NOW, LIMITS)
    assert ("i-1" in verdict.end, "i-1" in verdict.odd) == (ends, odd)


def test_nothing_is_terminated_if_the_clock_is_behind() -> None:
    expired = node_instance("2026-11-20T08:00:00Z")
    assert decide([expired, Instance("i-2", NOW + timedelta(minutes=5), NODES)], NOW, LIMITS).end
    with pytest.raises(WrongClock, match="i-2"):
        decide([expired, Instance("i-2", NOW + timedelta(minutes=6), {})], NOW, LIMITS)


MOMENTS = st.datetimes(datetime(2026, 11, 1), datetime(2026, 12, 1), timezones=st.just(UTC))


@given(MOMENTS, MOMENTS)
def test_a_node_is_terminated_exactly_after_lease_and_grace(until: datetime, now: datetime) -> None:
    launched = datetime(2026, 10, 31, tzinfo=UTC)
    node = Instance("i-1", launched, {**NODES, LEASE: until.strftime("%Y-%m-%dT%H:%M:%SZ")})
    exact = until.replace(microsecond=0)
    assert ("i-1" in decide([node], now, LIMITS).end) is (exact + LIMITS.grace <= now)


@given(st.text())
def test_any_lease_tag_is_handled(text: str) -> None:
    verdict = decide([node_instance(text)], NOW, LIMITS)
    assert set(verdict.end) | set(verdict.odd) <= {"i-1"}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(
        tmp_path_factory.mktemp("cloud"), "--with-parent", "--launcher", "none", "--boot-delay", "0"
    ) as emulator:
        yield emulator


@pytest.fixture
def ec2(cloud: EmulatorProcess) -> Iterator[Any]:
    cloud.control(wipe=True, boot=0)
    keys = {"aws_access_key_id": "t", "aws_secret_access_key": "t"}
    once = Config(retries={"total_max_attempts": 1})
    client = boto3.client("ec2", endpoint_url=cloud.endpoint, region_name="us-east-1", config=once, **keys)
    vpc = client.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    client.create_subnet(VpcId=vpc, CidrBlock="10.60.0.0/20", AvailabilityZoneId="use1-az4")
    yield client
    for instance in alive(client):
        client.modify_instance_attribute(InstanceId=instance, DisableApiTermination={"Value": False})


def launch(ec2: Any, count: int = 1, **tags: str) -> list[str]:
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    image = "ami-0a11ce5a9db0c5000"
    written = [{"Key": key.replace("__", ":").replace("_", "-"), "Value": value} for key, value in tags.items()]
    response = ec2.run_instances(
        ImageId=image,
        InstanceType="g6e.12xlarge",
        MinCount=count,
        MaxCount=count,
        SubnetId=subnet,
        TagSpecifications=[{"ResourceType": "instance", "Tags": written}],
    )
    return [instance["InstanceId"] for instance in response["Instances"]]


def node(ec2: Any, lease: str, count: int = 1, cluster: str = "c") -> list[str]:
    return launch(ec2, count, landbridge__cluster=cluster, landbridge__pool="p5", landbridge__lease_expires=lease)


def alive(ec2: Any) -> set[str]:
    pages = ec2.get_paginator("describe_instances").paginate()
    described = [i for page in pages for r in page["Reservations"] for i in r["Instances"]]
    return {i["InstanceId"] for i in described if i["State"]["Name"] in ("pending", "running")}


EXPIRED, LATER = "2026-11-20T11:00:00Z", "2999-01-01T00:00:00Z"


def now() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=1)


def soon() -> str:
    return (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_only_nodes_with_an_expired_lease_are_terminated(ec2: Any) -> None:
    expired, valid = node(ec2, soon(), 2), node(ec2, LATER)
    other, host = node(ec2, soon(), cluster="d"), launch(ec2, landbridge__cluster="c", landbridge__lease_expires=soon())
    odd = launch(ec2, landbridge__cluster="c", landbridge__pool="p5")
    done = reaper.sweep(ec2, "c", now(), LIMITS)
    assert set(done["ended"]) == set(expired) and set(done["odd"]) == set(odd) and done["failed"] == {}
    assert alive(ec2) == {*valid, *other, *host, *odd} and done["looked_at"] == 5
    assert reaper.sweep(ec2, "c", now(), LIMITS)["ended"] == {}


def test_every_page_is_read(ec2: Any, cloud: EmulatorProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    every = [node(ec2, soon())[0] for _ in range(7)]
    monkeypatch.setattr(reaper, "PAGE", 5)
    before = cloud.control()["calls"].get("DescribeInstances", 0)
    assert {instance.id for instance in reaper.find(ec2, "c")} == set(every)
    assert cloud.control()["calls"]["DescribeInstances"] - before == 2


def test_a_protected_instance_does_not_prevent_other_terminations(ec2: Any) -> None:
    protected, *others = node(ec2, soon(), 3)
    ec2.modify_instance_attribute(InstanceId=protected, DisableApiTermination={"Value": True})
    done = reaper.sweep(ec2, "c", now(), LIMITS)
    assert set(done["ended"]) == set(others) and done["failed"] == {protected: "OperationNotPermitted"}
    assert alive(ec2) == {protected}


def test_an_already_terminated_instance_is_no_failure(ec2: Any) -> None:
    (existing,) = node(ec2, soon())
    assert reaper.end(ec2, [existing, "i-0123456789abcdef0"]) == {} and alive(ec2) == set()


def test_terminations_are_sent_in_batches(ec2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaper, "BATCH", 2)
    every = node(ec2, soon(), 5)
    assert reaper.end(ec2, every) == {} and alive(ec2) == set()


def test_a_refused_termination_is_reported(ec2: Any, cloud: EmulatorProcess) -> None:
    every = node(ec2, soon(), 2)
    cloud.control(deny=["ec2:TerminateInstances"])
    try:
        assert reaper.end(ec2, every) == dict.fromkeys(every, "UnauthorizedOperation")
    finally:
        cloud.control(deny=[])


def test_the_archive_is_reproducible_and_runs_without_landbridge(
    ec2: Any, cloud: EmulatorProcess, tmp_path: Path
) -> None:
    first = package.archive({"b": "2", "a": "1"})
    assert first == package.archive({"a": "1", "b": "2"}) != package.archive({"a": "1", "b": "3"})
    whole = package.archive(package.files())
    assert {entry.date_time[0] for entry in zipfile.ZipFile(BytesIO(whole)).infolist()} == {1980}
    file = tmp_path / "function.zip"
    file.write_bytes(whole)
    expired, valid = node(ec2, soon()), node(ec2, LATER)
    done = _as_lambda(file, cloud, tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["ended"]) == set(expired) and alive(ec2) == set(valid)


def test_the_function_fails_if_an_instance_cannot_be_terminated(
    ec2: Any, cloud: EmulatorProcess, tmp_path: Path
) -> None:
    file = tmp_path / "function.zip"
    file.write_bytes(package.archive(package.files()))
    (protected,) = node(ec2, soon())
    ec2.modify_instance_attribute(InstanceId=protected, DisableApiTermination={"Value": True})
    done = _as_lambda(file, cloud, tmp_path)
    assert done.returncode == 1 and f"could not terminate {protected}" in done.stderr
    assert json.loads(done.stdout)["failed"] == {protected: "OperationNotPermitted"}


def test_nodes_in_other_regions_are_terminated_too_if_one_region_does_not_respond(
    ec2: Any, cloud: EmulatorProcess, tmp_path: Path
) -> None:
    file = tmp_path / "function.zip"
    file.write_bytes(package.archive(package.files()))
    keys = {"aws_access_key_id": "t", "aws_secret_access_key": "t"}
    away = boto3.client("ec2", endpoint_url=cloud.endpoint, region_name="us-east-2", **keys)
    vpc = away.create_vpc(CidrBlock="10.70.0.0/16")["Vpc"]["VpcId"]
    away.create_subnet(VpcId=vpc, CidrBlock="10.70.0.0/20", AvailabilityZoneId="use2-az1")
    (expired,), (expired_away,), (valid,) = node(ec2, soon()), node(away, soon()), node(away, LATER)
    done = _as_lambda(file, cloud, tmp_path, OTHER_REGIONS="no-such_region us-east-2")
    assert done.returncode == 1 and "no-such_region" in done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(result.get("region"), set(result["ended"])) for result in results] == [
        (None, {expired}),
        ("us-east-2", {expired_away}),
    ]
    assert (alive(ec2), alive(away)) == (set(), {valid})
    repeated = _as_lambda(file, cloud, tmp_path, OTHER_REGIONS="us-east-2")
    assert repeated.returncode == 0, repeated.stderr


def _as_lambda(
    file: Path, cloud: EmulatorProcess, folder: Path, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run the function in a process with the archive and boto3 on the path, without Landbridge."""
    module, function = package.HANDLER.split(".")
    program = (
        f"import sys; sys.path.insert(0, {str(file)!r})\nimport {module}\n"
        f"assert not any(name.startswith('landbridge') for name in sys.modules)\n{module}.{function}({{}}, None)\n"
    )
    site = str(Path(boto3.__file__).parents[1])
    env = {"CLUSTER": "c", "GRACE_MINUTES": "5", "UNLEASED_HOURS": "24", "AWS_ENDPOINT_URL": cloud.endpoint}
    env |= {"AWS_ACCESS_KEY_ID": "t", "AWS_SECRET_ACCESS_KEY": "t", "AWS_REGION": "us-east-1", "PYTHONPATH": site}
    env |= {"AWS_DEFAULT_REGION": "us-east-1", **variables}
    return subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_tags_are_those_of_the_burst_controller() -> None:
    from landbridge import tags
    from landbridge.timestamps import iso

    assert (tags.CLUSTER, tags.POOL, tags.LEASE_EXPIRES, tags.NODES) == (CLUSTER, POOL, LEASE, reaper.NODES)
    assert reaper.lease(iso(NOW.timestamp())) == NOW
