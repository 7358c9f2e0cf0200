"""The programs Slurm runs, run as Slurm runs them, against the emulated AWS and the simulated Slurm."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.config import parse
from landbridge.burst.ec2 import Ec2
from landbridge.burst.order import ResumeJob, ResumeOrder
from landbridge.burst.request import plan
from landbridge.burst.slurm import job_facts
from sandbox.cloud.process import Cloud, running
from sandbox.embedded.slurm import Node, SimulatedSlurm, socket_path

from .conftest import client_of

NODES = ("dgx[01-02]", "p5-[1-4]")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slurm")


@pytest.fixture(scope="module")
def emulator(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """One whose instances are processes that register with the simulated Slurm in `place`."""
    node = f"{sys.executable} -m sandbox.embedded.node {socket_path(place)}"
    options = ["--imds", "127.0.0.1:0", "--require-credentials", "--boot-delay", "0", "--launcher", "process"]
    with running(tmp_path_factory.mktemp("cloud"), *options, "--process-command", node) as cloud:
        yield cloud


@pytest.fixture
def start(place: Path, burst: dict[str, Any]) -> Iterator[Callable[..., SimulatedSlurm]]:
    """Starts the simulated Slurm, with a changed burst.json or other times."""
    shutil.rmtree(place)
    opened: list[SimulatedSlurm] = []

    def begin(change: dict[str, Any] | None = None, **times: float) -> SimulatedSlurm:
        nodes = [*Node.many(NODES[0], gpus=8), *Node.many(NODES[1], gpus=8, cloud=True, weight=1000)]
        slurm = SimulatedSlurm(place, nodes, burst_config={**burst, **(change or {})}, **times)
        opened.append(slurm.__enter__())
        return slurm

    yield begin
    for slurm in opened:
        slurm.__exit__()


def program(
    slurm: SimulatedSlurm, name: str, nodes: str, resume: dict[str, Any] | None = None
) -> "subprocess.Popen[str]":
    """Start one of the burst programs as slurmctld does."""
    environment = {"PATH": f"{slurm.directory}/bin:/usr/bin:/bin", "AWS_EC2_METADATA_DISABLED": "true"}
    environment["LANDBRIDGE_BURST_CONFIG"] = str(slurm.directory / "burst.json")
    if resume:
        environment["SLURM_RESUME_FILE"] = str(slurm.directory / "order.json")
        (slurm.directory / "order.json").write_text(json.dumps(resume))
    command = [sys.executable, "-m", "landbridge.burst.shims", name, nodes]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: "subprocess.Popen[str]") -> int:
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors, errors
    return process.returncode


def instances(cloud: Cloud) -> dict[str, list[dict[str, Any]]]:
    """Instances that are not ended, by their node's name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for instance in cloud.control()["instances"]:
        if instance["state"] in ("pending", "running"):
            found.setdefault(instance["tags"].get("landbridge:node", ""), []).append(instance)
    return found


def events(slurm: SimulatedSlurm, name: str) -> list[dict[str, Any]]:
    lines = (slurm.directory / "burst.log").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == name]


def test_second_job_bursts_while_the_first_holds_the_site(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start(suspend_time=1)
    first = slurm.submit(nodes=2, script="sleep 4; echo $SLURMD_NODENAME", account="vision")
    second = slurm.submit(nodes=2, script="echo $SLURM_PROCID $SLURM_NTASKS $SLURMD_NODENAME", account="vision")
    slurm.wait(second, 30)
    tags = {name: found[0]["tags"] for name, found in instances(cloud).items()}
    assert (second.state, second.nodes, second.restarts) == ("COMPLETED", ("p5-1", "p5-2"), 0)
    assert (second.output(0), second.output(1)) == ("0 2 p5-1\n", "1 2 p5-2\n")
    slurm.wait(first, 30)
    assert (first.nodes, first.output(1)) == (("dgx01", "dgx02"), "dgx02\n")
    slurm.wait_idle(30)
    assert instances(cloud) == {}
    for name in ("p5-1", "p5-2"):
        assert tags[name]["Name"] == name
        assert tags[name]["landbridge:job"] == str(second.id)
        assert tags[name]["landbridge:nodes"] == "p5-[1-2]"
        assert tags[name]["landbridge:lease-expires"] > time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    assert cloud.control()["calls"]["CreateFleet"] == 1


def test_drought_requeues_at_once_and_the_job_runs_when_there_is_capacity(
    cloud: Cloud, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start(suspend_time=5)
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/use1-az6": 0})
    job = slurm.submit(nodes=2, script="true", partition="p5")
    slurm.wait_for(lambda: job.restarts > 0, 20, "the job was not requeued")
    reason = next(reason for _, state, reason in job.history if state == "PENDING" and reason)
    assert reason.startswith("landbridge: InsufficientInstanceCapacity (capacity)")
    assert instances(cloud) == {}  # never half a gang
    assert [line["zone"] for line in events(slurm, "launch")][:2] == ["use1-az4", "use1-az6"]
    cloud.control(pool={"p5.48xlarge/use1-az6": 4})
    assert slurm.wait(job, 30).state == "COMPLETED"
    assert {found[0]["zone"] for found in instances(cloud).values()} == {"us-east-1a"}


def test_lost_instance_requeues_its_job(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    job = slurm.submit(nodes=1, script="[ $SLURM_RESTART_COUNT = 1 ] || sleep 60", partition="p5")
    slurm.wait_for(lambda: job.state == "RUNNING", 20, "not running")
    client_of(cloud, "ec2").terminate_instances(InstanceIds=[instances(cloud)["p5-1"][0]["id"]])
    assert slurm.wait(job, 30).state == "COMPLETED"
    assert (job.restarts, job.nodes) == (1, ("p5-2",))


def test_node_that_never_comes_is_given_up(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    cloud.control(boot=600)
    slurm = start(resume_timeout=4)
    job = slurm.submit(nodes=1, script="true", partition="p5")
    slurm.wait_for(lambda: slurm.nodes["p5-1"].state == "DOWN", 20, "the node was not given up")
    slurm.cancel(job)
    slurm.wait_for(lambda: "p5-1" not in instances(cloud), 10, "its instance was left")
    assert slurm.nodes["p5-1"].state == "DOWN"


ORDER = {"jobs": [{"job_id": 1, "nodes_alloc": "p5-[1-2]", "nodes_resume": "p5-[1-2]"}], "all_nodes_resume": "p5-[1-2]"}


def test_the_same_order_twice_at_once_launches_once(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    assert [ended(process) for process in [program(slurm, "resume", "p5-[1-2]", ORDER) for _ in range(2)]] == [0, 0]
    assert ended(program(slurm, "resume", "p5-[1-2]", ORDER)) == 0
    assert {name: len(found) for name, found in instances(cloud).items()} == {"p5-1": 1, "p5-2": 1}
    assert {name: slurm.nodes[name].address for name in ("p5-1", "p5-2")} == {
        name: found[0]["address"] for name, found in instances(cloud).items()
    }


def test_power_up_without_a_job(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    slurm.power_up(["p5-3", "p5-4"])
    slurm.wait_for(lambda: slurm.nodes["p5-3"].up and slurm.nodes["p5-4"].up, 20, "not up")
    assert sorted(instances(cloud)) == ["p5-3", "p5-4"]
    assert "landbridge:job" not in instances(cloud)["p5-3"][0]["tags"]


def test_killed_before_naming_is_finished_by_the_next_run(
    cloud: Cloud, start: Callable[..., SimulatedSlurm], burst: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm = start()
    monkeypatch.setenv("PATH", f"{slurm.directory}/bin:{os.environ['PATH']}")
    from datetime import UTC, datetime

    config, nodes = parse(burst), ("p5-1", "p5-2")
    order = ResumeOrder(nodes, (ResumeJob(1, nodes, nodes),))
    request = plan(order, job_facts([1]), config, (), datetime.now(UTC)).requests[0]
    launched = Ec2(config).launch(request, 2, request.subnets[0], 0)  # and then the power goes
    assert list(instances(cloud)) == [""]
    assert ended(program(slurm, "resume", "p5-[1-2]", ORDER)) == 0
    found = instances(cloud)
    assert sorted(found) == list(nodes)
    assert sorted(found[name][0]["id"] for name in nodes) == sorted(launched.ids)


def test_instance_that_cannot_be_named_is_ended(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    cloud.control(faults={"CreateTags": {"code": "UnauthorizedOperation", "status": 403, "times": 2}})
    assert ended(program(slurm, "resume", "p5-[1-2]", ORDER)) == 1
    assert instances(cloud) == {}
    assert [line["problem"] for line in events(slurm, "down")] == [
        "landbridge: UnauthorizedOperation (configuration) injected"
    ]


def test_quota_is_not_worth_another_zone(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    cloud.control(faults={"CreateFleet": {"code": "VcpuLimitExceeded", "message": "0 vCPUs"}})
    assert ended(program(slurm, "resume", "p5-[1-2]", ORDER)) == 1
    assert len(events(slurm, "launch")) == 1
    slurm.wait_for(lambda: "POWERED_DOWN" in slurm.nodes["p5-1"].flags, 10, "not powered down")
    assert slurm.nodes["p5-1"].reason == "landbridge: VcpuLimitExceeded (quota) 0 vCPUs"


def test_throttling_is_waited_out(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    fault = {"code": "RequestLimitExceeded", "status": 503, "times": 2}
    cloud.control(faults={"CreateFleet": fault})
    assert ended(program(slurm, "resume", "p5-[1-2]", ORDER)) == 0
    assert sorted(instances(cloud)) == ["p5-1", "p5-2"]


def test_partial_batch_keeps_what_it_got(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/use1-az6": 1})
    jobs = [{"job_id": n, "nodes_alloc": f"p5-{n}", "nodes_resume": f"p5-{n}"} for n in (1, 2, 3)]
    assert ended(program(slurm, "resume", "p5-[1-3]", {"jobs": jobs})) == 1
    assert sorted(instances(cloud)) == ["p5-1", "p5-2"]
    assert [line["nodes"] for line in events(slurm, "down")] == [["p5-3"]]


@pytest.mark.parametrize("change", [{"endpoint": "http://127.0.0.1:9"}, {"pools": {}}, {"cluster": 7}])
def test_whatever_is_wrong_the_nodes_go_down(
    start: Callable[..., SimulatedSlurm], change: dict[str, Any], emulator: Cloud
) -> None:
    slurm = start(change)
    process = program(slurm, "resume", "p5-[1-2]", ORDER)
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert slurm.nodes["p5-1"].reason.startswith("landbridge: ")
    expected = {"endpoint": "(network)", "pools": "UnknownNode", "cluster": "BurstConfiguration"}
    assert expected[next(iter(change))] in slurm.nodes["p5-1"].reason


def test_suspend_ends_every_instance_of_its_nodes_and_no_other(
    cloud: Cloud, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    slurm.power_up(["p5-1", "p5-2", "p5-3"])
    slurm.wait_for(lambda: len(instances(cloud)) == 3 and "" not in instances(cloud), 20, "not launched")
    twin = instances(cloud)["p5-3"][0]["id"]
    client_of(cloud, "ec2").create_tags(Resources=[twin], Tags=[{"Key": "landbridge:node", "Value": "p5-2"}])
    assert [ended(program(slurm, "suspend", "p5-2")) for _ in range(2)] == [0, 0]
    assert sorted(instances(cloud)) == ["p5-1"]


def test_key_is_published_once(cloud: Cloud, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    client_of(cloud, "secretsmanager").create_secret(Name="sandbox/slurm-key")

    def publish(key: bytes) -> str:
        environment = {**os.environ, "LANDBRIDGE_BURST_CONFIG": str(slurm.directory / "burst.json")}
        command = [sys.executable, "-m", "landbridge.burst.publish_key"]
        done = subprocess.run(command, input=key, env=environment, capture_output=True, timeout=30, check=False)
        return (done.stdout or done.stderr).decode().strip()

    text, binary = b"k" * 64 + b"\n", b"\xff" * 64
    said = [publish(key) for key in (text, text, binary, binary)]
    assert said == ["changed", "unchanged", "changed", "unchanged"]
    stored = client_of(cloud, "secretsmanager").get_secret_value(SecretId="sandbox/slurm-key")
    assert stored["SecretBinary"] == binary
    assert "32 bytes" in publish(b"short")


def test_status_joins_instances_and_nodes(
    cloud: Cloud, start: Callable[..., SimulatedSlurm], monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from landbridge.cli.main import build

    slurm = start()
    monkeypatch.setenv("PATH", f"{slurm.directory}/bin:{os.environ['PATH']}")
    command = ["burst", "status", "--config", str(slurm.directory / "burst.json")]
    empty = CliRunner().invoke(build(), command)
    assert (empty.exit_code, empty.stdout) == (0, "no instance runs, and no cloud node is up\n")
    slurm.power_up(["p5-1", "p5-2"])
    slurm.wait_for(lambda: slurm.nodes["p5-1"].up and slurm.nodes["p5-2"].up, 20, "not up")
    other = instances(cloud)["p5-2"][0]["id"]
    client_of(cloud, "ec2").create_tags(Resources=[other], Tags=[{"Key": "landbridge:node", "Value": "p5-1"}])
    shown = CliRunner().invoke(build(), [*command, "--format", "json"])
    assert shown.exit_code == 1
    remarks = sorted((row["node"], row["remark"]) for row in json.loads(shown.stdout))
    twice = "several instances of this node"
    assert remarks == [("p5-1", twice), ("p5-1", twice), ("p5-2", "node without instance")]
