"""Execution of actions: a gang of several calls against the emulated AWS, and the reason of a node in Slurm."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.config.config import BurstConfig, parse
from landbridge.burst.daemon.execute import SLURM_FAILED, perform, reason
from landbridge.burst.daemon.outcomes import outcome_records
from landbridge.burst.model import (
    ActionOutcome,
    Attempt,
    CommentJobs,
    Down,
    Gang,
    JobComment,
    Launch,
    Offering,
    RecordTopology,
    Renew,
    RequeueJobs,
    SetAddresses,
    SlurmJob,
    Terminate,
)
from landbridge.burst.slurm import slurm
from landbridge.hostlist import expand
from sandbox.aws_emulator.process import EmulatorProcess

TYPE = "p5.48xlarge/use1-az4"


@pytest.fixture
def config(burst: dict[str, Any]) -> BurstConfig:
    return parse(burst)


@pytest.fixture
def shell(config: BurstConfig, monkeypatch: pytest.MonkeyPatch) -> Ec2:
    monkeypatch.setattr("landbridge.burst.aws.ec2.time.sleep", lambda _: None)
    return Ec2(config)


def launch(offering: Offering, all_or_nothing: bool = True, name: str = "a") -> Launch:
    """Return the launch of a gang of four nodes in two calls."""
    nodes = ("p5-1", "p5-2", "p5-3", "p5-4")
    gang = Gang("g", "7", "p5", nodes, (7,), all_or_nothing, "vision")
    attempts = tuple(
        Attempt(
            f"lb-{name}-{i}",
            "g",
            "p5",
            offering.key,
            nodes[2 * i : 2 * i + 2],
            (7,),
            "vision",
            all_or_nothing,
            2e9,
            1.8e9,
            5.0,
            2.5,
        )
        for i in range(2)
    )
    return Launch(gang, offering, attempts, {"landbridge:cluster": "sandbox"})


def first(config: BurstConfig) -> Offering:
    return config.policy.pools["p5"].offerings[0]


def alive(cloud: EmulatorProcess) -> int:
    return sum(instance["state"] in ("pending", "running") for instance in cloud.control()["instances"])


@pytest.mark.parametrize("workers", [1, 4])
def test_all_calls_of_a_gang_are_one_outcome(
    cloud: EmulatorProcess, config: BurstConfig, shell: Ec2, workers: int
) -> None:
    outcome = perform(launch(first(config)), shell, slurm, workers)
    assert (outcome.code, set(outcome.instances), set(outcome.addresses)) == (
        "",
        *2 * ({"p5-1", "p5-2", "p5-3", "p5-4"},),
    )
    assert cloud.control()["calls"]["RunInstances"] == 2 and alive(cloud) == 4


@pytest.mark.parametrize("workers", [1, 4])
def test_a_refused_call_terminates_the_whole_gang(
    cloud: EmulatorProcess, config: BurstConfig, shell: Ec2, workers: int
) -> None:
    cloud.control(pool={TYPE: 3})
    outcome = perform(launch(first(config)), shell, slurm, workers)
    assert (outcome.code, outcome.instances) == ("InsufficientInstanceCapacity", {})
    assert len(outcome.terminated) == 2
    assert alive(cloud) == 0 and cloud.control()["calls"]["TerminateInstances"] == 1
    (record,) = outcome_records(launch(first(config)), outcome, 5.0)
    assert (record.event, record.jobs, record.code, record.usd) == ("not-launched", (7,), outcome.code, 10.0)


def test_an_instance_that_could_not_be_terminated_is_in_the_outcome(
    cloud: EmulatorProcess, config: BurstConfig, shell: Ec2
) -> None:
    refusal = {"code": "UnauthorizedOperation", "status": 403, "times": 3}
    cloud.control(pool={TYPE: 3}, faults={"TerminateInstances": refusal})
    outcome = perform(launch(first(config)), shell, slurm, 1)
    assert (outcome.code, set(outcome.instances)) == ("InsufficientInstanceCapacity", {"p5-1", "p5-2"})
    assert not outcome.terminated and alive(cloud) == 2


def test_a_throttled_call_is_completed_by_a_repeated_launch(
    cloud: EmulatorProcess, config: BurstConfig, shell: Ec2
) -> None:
    assert perform(launch(first(config), name="b"), shell, slurm, 1).code == ""
    before = {instance["id"] for instance in cloud.control()["instances"]}
    cloud.control(faults={"RunInstances": {"code": "RequestLimitExceeded", "status": 503, "times": 4}})
    partial = perform(launch(first(config), name="b"), shell, slurm, 1)
    assert (partial.code, set(partial.instances)) == ("RequestLimitExceeded", {"p5-3", "p5-4"})
    assert alive(cloud) == 4  # no instance was terminated for it
    assert perform(launch(first(config), name="b"), shell, slurm, 1).code == ""
    assert {instance["id"] for instance in cloud.control()["instances"]} == before


def test_a_refusal_takes_precedence_over_a_call_of_unknown_result(
    cloud: EmulatorProcess, config: BurstConfig, shell: Ec2
) -> None:
    cloud.control(
        faults={
            "RunInstances": [
                {"code": "RequestLimitExceeded", "status": 503, "times": 4},
                {"code": "VcpuLimitExceeded"},
            ]
        }
    )
    assert perform(launch(first(config)), shell, slurm, 1).code == "VcpuLimitExceeded"


def test_a_batch_keeps_the_instances_that_had_capacity(cloud: EmulatorProcess, config: BurstConfig, shell: Ec2) -> None:
    cloud.control(pool={TYPE: 3})
    outcome = perform(launch(first(config), all_or_nothing=False), shell, slurm, 1)
    assert len(outcome.instances) == 3 == alive(cloud)
    cloud.control(wipe=True)


def test_a_failed_action_has_an_outcome_with_an_error_code(
    cloud: EmulatorProcess, config: BurstConfig, shell: Ec2, monkeypatch: Any
) -> None:
    cloud.control(
        faults={
            "TerminateInstances": {"code": "UnauthorizedOperation", "status": 403},
            "CreateTags": {"code": "UnauthorizedOperation", "status": 403},
        }
    )
    monkeypatch.setenv("PATH", "/nonexistent")
    terminate = Terminate(("i-0123456789abcdef0",), "ORPHANED")
    ended = perform(terminate, shell, slurm)
    assert ended.refused["i-0123456789abcdef0"][0] == "UnauthorizedOperation"
    (record,) = outcome_records(terminate, ended, 5.0)
    assert (record.event, record.code) == ("not-terminated", "UnauthorizedOperation")
    assert perform(Renew(("i-0123456789abcdef0",), 2e9), shell, slurm).code == "UnauthorizedOperation"
    comments = CommentJobs((JobComment(7, "7", "x", None),))
    requeue = RequeueJobs((SlurmJob(7, "RUNNING"),), "BUDGET", "x")
    for action in (Down(("p5-1",), "GONE", "x"), requeue, SetAddresses({"p5-1": "10.0.0.1"}), comments):
        outcome = perform(action, shell, slurm)
        assert outcome.code == SLURM_FAILED and "scontrol" in outcome.message
        (record,) = outcome_records(action, outcome, 5.0)
        assert (record.event, record.code) == ("failed", SLURM_FAILED)
    assert outcome_records(Terminate(("i-1",), "ORPHANED"), ActionOutcome(), 5.0) == ()


@pytest.fixture
def comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, str]]:
    """Install a stand-in of scontrol; return a function that returns the comments that it was asked to set."""
    program, calls = tmp_path / "scontrol", tmp_path / "calls"
    program.write_text(f'#!/bin/sh\necho "$2 $3" >> {calls}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def read() -> dict[str, str]:
        updates = [line.split(" ") for line in calls.read_text().splitlines()]
        return {
            node: comment.removeprefix("comment=")
            for names, comment in updates
            for node in expand(names.removeprefix("nodename="))
        }

    return read


def test_the_network_paths_of_a_launch_are_written_to_slurm(
    config: BurstConfig, shell: Ec2, comments: Callable[[], dict[str, str]]
) -> None:
    launched = perform(launch(first(config)), shell, slurm)
    outcome = perform(RecordTopology(launched.instances), shell, slurm)
    assert (outcome.code, outcome.instances) == ("", launched.instances)
    assert set(outcome.network_paths) == set(launched.instances)
    assert comments() == {node: f"network:{path}" for node, path in outcome.network_paths.items()}


@pytest.mark.parametrize(
    ("code", "status", "is_read_again"), [("UnauthorizedOperation", 403, False), ("RequestLimitExceeded", 503, True)]
)
def test_a_refused_read_of_the_topology_is_repeated_only_if_it_may_succeed(
    cloud: EmulatorProcess,
    config: BurstConfig,
    shell: Ec2,
    comments: Callable[[], dict[str, str]],
    code: str,
    status: int,
    is_read_again: bool,
) -> None:
    launched = perform(launch(first(config)), shell, slurm)
    cloud.control(faults={"DescribeInstanceTopology": {"code": code, "status": status, "times": 9}})
    action = RecordTopology(launched.instances)
    outcome = perform(action, shell, slurm)
    assert (outcome.code, outcome.instances) == (code, {} if is_read_again else launched.instances)
    if not is_read_again:  # an earlier instance's path would be wrong
        assert comments() == dict.fromkeys(launched.instances, "")
    (record,) = outcome_records(action, outcome, 5.0)
    assert (record.event, record.code) == ("failed", code)


def test_a_reason_is_one_short_line() -> None:
    text = reason(Down(("p5-1",), "QUOTA", 'You "have"\nrequested ' + "x" * 500))
    assert text.startswith("landbridge: QUOTA You 'have' requested xxx")
    assert len(text) <= 200 and "\n" not in text
