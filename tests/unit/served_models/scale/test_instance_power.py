"""Starts and stops of hosts of model servers: the decision, and the daemon's passes against the emulated AWS with the gateway's rights."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from landbridge.plan.aws.access.iam_policies import ArnContext, start_and_stop
from landbridge.plan.policy_document import document
from landbridge.serving.follow.instance_gauges import GAUGES, instance_gauges
from landbridge.serving.follow.instance_power import InstancePower, read_power
from landbridge.serving.follow.instances import (
    DRAIN_SECONDS,
    FOREIGN_SECONDS,
    RETRY_SECONDS,
    SETTLE_SECONDS,
    HostInstance,
    PowerState,
    absent_hosts,
    after_start,
    after_stop,
    power_plan,
)
from landbridge.tags import CLUSTER, MODEL_SERVER, SERVING
from sandbox.aws_emulator.process import EmulatorProcess, running
from tests.unit.aws_emulator.conftest import IMAGE, client_of
from tests.unit.observability.test_metrics_contract import assert_is_contract

HOSTS = ("serve-az4-01", "serve-az4-02")
ACCOUNT = "123456789012"


def stopped(*hosts: str) -> list[HostInstance]:
    """Return stopped instances."""
    return [HostInstance(host, f"i-{host}", "stopped") for host in hosts]


def up(*hosts: str) -> list[HostInstance]:
    """Return running instances."""
    return [HostInstance(host, f"i-{host}", "running") for host in hosts]


def ids(instances: tuple[HostInstance, ...]) -> tuple[str, ...]:
    return tuple(each.host for each in instances)


def test_a_needed_host_starts_once_and_stops_after_it_was_not_needed_for_the_drain() -> None:
    plan = power_plan(HOSTS, {HOSTS[0]}, stopped(*HOSTS), PowerState(), 1000.0)
    assert (ids(plan.start), plan.stop) == ((HOSTS[0],), ())
    state = after_start(plan.state, HOSTS[0], 1000.0, is_refused=False)
    # EC2 may show the former state for a while: no second order.
    assert power_plan(HOSTS, {HOSTS[0]}, stopped(*HOSTS), state, 1000.0 + SETTLE_SECONDS - 1).start == ()
    first = power_plan(HOSTS, set(), up(HOSTS[0]), state, 2000.0)
    assert first.stop == ()
    assert power_plan(HOSTS, set(), up(HOSTS[0]), first.state, 2000.0 + DRAIN_SECONDS - 1).stop == ()
    last = power_plan(HOSTS, set(), up(HOSTS[0]), first.state, 2000.0 + DRAIN_SECONDS)
    assert ids(last.stop) == (HOSTS[0],)
    assert after_stop(last.state, HOSTS[0], 2090.0).started == {}
    # A need in between begins the wait anew.
    again = power_plan(HOSTS, {HOSTS[0]}, up(HOSTS[0]), first.state, 2050.0)
    assert power_plan(HOSTS, set(), up(HOSTS[0]), again.state, 2000.0 + DRAIN_SECONDS).stop == ()


def test_an_instance_that_an_operator_started_runs_for_an_hour() -> None:
    first = power_plan(HOSTS, set(), up(HOSTS[0]), PowerState(), 0.0)
    assert power_plan(HOSTS, set(), up(HOSTS[0]), first.state, FOREIGN_SECONDS - 1).stop == ()
    assert ids(power_plan(HOSTS, set(), up(HOSTS[0]), first.state, FOREIGN_SECONDS).stop) == (HOSTS[0],)


def test_a_refused_host_is_absent_until_a_try_takes_no_ready_host_away() -> None:
    instances = stopped(*HOSTS)
    state = after_start(
        power_plan(HOSTS, {HOSTS[0]}, instances, PowerState(), 0.0).state, HOSTS[0], 0.0, is_refused=True
    )
    assert absent_hosts(HOSTS, instances, state) == (HOSTS[0],)
    # The next host serves in its place.
    assert ids(power_plan(HOSTS, {HOSTS[1]}, instances, state, 5.0).start) == (HOSTS[1],)
    later = RETRY_SECONDS + 1
    mixed = [*stopped(HOSTS[0]), *up(HOSTS[1])]
    assert HOSTS[0] in power_plan(HOSTS, {HOSTS[1]}, mixed, state, later).state.refused
    assert power_plan(HOSTS, {HOSTS[1]}, mixed, state, later, is_short=True).state.refused == {}
    assert power_plan(HOSTS, set(), instances, state, later).state.refused == {}
    # Another host than those of the plan has no effect.
    assert absent_hosts(HOSTS, up(HOSTS[0]), PowerState()) == (HOSTS[1],)


def test_the_gauges_of_hosts_in_aws_are_those_of_the_service_that_starts_them() -> None:
    hosts = ("serve-az4-01", "serve-az4-02", "serve-az4-03")
    instances = [HostInstance(hosts[0], "i-1", "running"), HostInstance(hosts[1], "i-2", "stopped")]
    text = instance_gauges(hosts, hosts[:2], instances, PowerState(refused={hosts[1]: 1.0}), 1000.0)
    assert_is_contract("model_instances", text)
    wanted = [line for line in text.splitlines() if line.startswith("landbridge_model_instance_wanted")]
    # Another host serves in the place of the refused one.
    assert [line[-1] for line in wanted] == ["1", "0", "0"]
    assert f'landbridge_model_instance_running{{host="{hosts[0]}"}} 1' in text


times = st.dictionaries(st.sampled_from(HOSTS), st.floats(0, 1e6))


@given(
    st.sets(st.sampled_from(HOSTS)),
    st.lists(st.sampled_from(["pending", "running", "stopping", "stopped"]), min_size=2, max_size=2),
    st.builds(PowerState, times, times, times, times),
    st.floats(0, 1e6),
)
def test_no_needed_host_is_stopped_and_no_other_one_started(
    wanted: set[str], states: list[str], before: PowerState, at: float
) -> None:
    instances = [HostInstance(host, "i", state) for host, state in zip(HOSTS, states, strict=True)]
    plan = power_plan(HOSTS, wanted, instances, before, at)
    assert set(ids(plan.start)) <= wanted
    assert not set(ids(plan.stop)) & wanted
    assert not set(ids(plan.start)) & set(plan.state.refused)


@dataclass
class Site:
    """Cluster in the emulated AWS: its hosts of model servers, stopped, and a session of the gateway's role."""

    cloud: EmulatorProcess
    ec2: Any
    subnet: str
    group: str
    ids: dict[str, str]
    keys: dict[str, str]
    state: Path
    lines: list[str]
    now: float = 1000.0

    def host(self, host: str, cluster: str = "site", serving: str = MODEL_SERVER) -> str:
        """Create an instance as Pulumi does, and stop it; return its id."""
        tags = {CLUSTER: cluster, SERVING: serving, "landbridge:host": host}
        instance = self.ec2.run_instances(
            ImageId=IMAGE,
            InstanceType="m7i.large",
            MinCount=1,
            MaxCount=1,
            SubnetId=self.subnet,
            SecurityGroupIds=[self.group],
            TagSpecifications=[
                {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
            ],
        )["Instances"][0]["InstanceId"]
        self.ec2.stop_instances(InstanceIds=[instance])
        return str(instance)

    def power(self, wanted: set[str], *, is_short: bool = False) -> InstancePower:
        """Return the daemon's passes with the session's keys."""
        settings = {
            "cluster": "site",
            "region": "us-east-1",
            "hosts": HOSTS,
            "endpoint": self.cloud.endpoint,
            "fips": False,
        }
        return InstancePower(
            settings, self.state, lambda at: (frozenset(wanted), is_short), lambda: self.now, self.lines.append
        )

    def states(self) -> dict[str, str]:
        """Return the state of each host."""
        reservations = self.ec2.describe_instances(InstanceIds=list(self.ids.values()))["Reservations"]
        by_id = {each["InstanceId"]: each["State"]["Name"] for row in reservations for each in row["Instances"]}
        return {host: by_id[id_] for host, id_ in self.ids.items()}

    def absent(self) -> list[str]:
        """Return the record of absent hosts."""
        return list(json.loads((self.state / "absent.json").read_text()))


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    options = ["--imds", "127.0.0.1:0", "--require-credentials", "--boot-delay", "0"]
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", *options) as cloud:
        yield cloud


@pytest.fixture
def site(emulator: EmulatorProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    emulator.control(wipe=True, boot=0)
    ec2, iam, sts = (client_of(emulator, name) for name in ("ec2", "iam", "sts"))
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.60.0.0/24", AvailabilityZoneId="use1-az4")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=vpc)["GroupId"]
    trust = [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]
    iam.create_role(RoleName="site-serving", AssumeRolePolicyDocument=document(trust))
    rights = start_and_stop(ArnContext("site", "aws", "us-east-1", ACCOUNT))
    iam.put_role_policy(RoleName="site-serving", PolicyName="landbridge", PolicyDocument=document(rights))
    arn = f"arn:aws:iam::{ACCOUNT}:role/site-serving"
    keys = sts.assume_role(RoleArn=arn, RoleSessionName="gwm01")["Credentials"]
    built = Site(emulator, ec2, subnet, group, {}, keys, tmp_path / "instances", [])
    built.ids |= {host: built.host(host) for host in HOSTS}
    for name, key in (
        ("AWS_ACCESS_KEY_ID", "AccessKeyId"),
        ("AWS_SECRET_ACCESS_KEY", "SecretAccessKey"),
        ("AWS_SESSION_TOKEN", "SessionToken"),
    ):
        monkeypatch.setenv(name, keys[key])
    return built


def test_the_load_starts_a_host_and_its_end_stops_it(site: Site) -> None:
    site.power({HOSTS[0]}).run()
    assert site.states() == {HOSTS[0]: "running", HOSTS[1]: "stopped"}
    gauges = (site.state / GAUGES).read_text()
    assert f'wanted{{host="{HOSTS[0]}"}} 1' in gauges and f'wanted{{host="{HOSTS[1]}"}} 0' in gauges
    # A killed daemon has its record, and looks again.
    site.now += 100
    site.power(set()).run()
    assert site.states()[HOSTS[0]] == "running"
    site.now += DRAIN_SECONDS
    site.power(set()).run()
    assert set(site.states().values()) == {"stopped"}
    assert read_power(site.state).started == {}
    assert site.absent() == []


def test_a_start_without_capacity_makes_the_host_absent_so_that_the_next_one_serves(site: Site) -> None:
    site.cloud.control(pool={"m7i.large/*": 0})
    site.power({HOSTS[0]}).run()
    assert site.states()[HOSTS[0]] == "stopped"
    assert site.absent() == [HOSTS[0]]
    assert "InsufficientInstanceCapacity" in site.lines[-1]
    site.cloud.control(pool={"m7i.large/*": 1})
    site.power({HOSTS[1]}).run()
    assert site.states() == {HOSTS[0]: "stopped", HOSTS[1]: "running"}
    assert site.absent() == [HOSTS[0]]


def test_the_gateways_right_ends_at_the_clusters_model_servers(site: Site) -> None:
    others = (site.host(HOSTS[0], cluster="other"), site.host(HOSTS[0], serving="gateway"))
    client = boto3.client("ec2", region_name="us-east-1", endpoint_url=site.cloud.endpoint)
    for instance in others:
        with pytest.raises(ClientError, match="UnauthorizedOperation"):
            client.start_instances(InstanceIds=[instance])
        site.ec2.start_instances(InstanceIds=[instance])
        with pytest.raises(ClientError, match="UnauthorizedOperation"):
            client.stop_instances(InstanceIds=[instance])
    with pytest.raises(ClientError, match="UnauthorizedOperation"):
        client.terminate_instances(InstanceIds=[site.ids[HOSTS[0]]])
    # Instances of another cluster with the same host name are not looked at.
    site.power({HOSTS[0]}).run()
    assert site.states()[HOSTS[0]] == "running"


def test_a_missing_right_is_logged_and_the_record_stays(site: Site) -> None:
    client_of(site.cloud, "iam").delete_role_policy(RoleName="site-serving", PolicyName="landbridge")
    site.power({HOSTS[0]}).run()
    assert set(site.states().values()) == {"stopped"}
    assert "UnauthorizedOperation" in site.lines[-1]
    assert not (site.state / "absent.json").exists()
