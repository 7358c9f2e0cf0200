"""Jobs from submission to end, with the real programs and daemon, the emulated AWS and a simulated Slurm."""
# ruff: noqa: F811 - fixtures are imported

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from landbridge.burst.journal.signed_records import files, public_text, signing_key
from landbridge.burst.journal.store import Store
from landbridge.burst.journal.verify_records import verify
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.embedded.slurm import SimulatedSlurm
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.burst.service import (  # noqa: F401
    emulator,
    instances,
    records,
    slurm_folder,
    start,
    submit,
    wait_for_no_instances,
)


def test_a_second_job_bursts_while_the_first_uses_the_on_prem_nodes(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm], tmp_path: Path
) -> None:
    key_file = tmp_path / "records-key"
    key_file.write_text("k" * 43)
    slurm = start({"records_key": str(key_file)}, suspend_time=1)
    first = submit(slurm, 2, "sleep 4; echo $SLURMD_NODENAME", partition="gpu")
    second = submit(slurm, 2, "echo $SLURM_PROCID $SLURM_NTASKS $SLURMD_NODENAME", partition="gpu")
    slurm.wait(second)
    tags = {name: launched[0]["tags"] for name, launched in instances(cloud).items()}
    assert (second.state, second.nodes, second.restarts) == ("COMPLETED", ("p5-1", "p5-2"), 0)
    assert (second.output(0), second.output(1)) == ("0 2 p5-1\n", "1 2 p5-2\n")
    slurm.wait(first)
    assert (first.nodes, first.output(1)) == (("dgx01", "dgx02"), "dgx02\n")
    slurm.wait_idle()
    wait_for_no_instances(slurm, cloud)
    for name in ("p5-1", "p5-2"):
        assert tags[name]["landbridge:job"] == str(second.id)
        assert tags[name]["landbridge:nodes"] == "p5-[1-2]"
        assert tags[name]["landbridge:data-class"] == "internal"
        assert tags[name]["landbridge:lease-expires"] > time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    calls = cloud.control()["calls"]
    assert calls["RunInstances"] == 1 and "CreateFleet" not in calls
    assert [record.jobs for record in records(slurm, "launched", second)] == [(second.id,)]
    # The signed records of residency have the place that Slurm chose, the launch before its call, and its outcome.
    folder = slurm.directory / "residency-records"
    assert verify(folder, [public_text(signing_key("k" * 43))]).faults == ()
    bodies = [json.loads(line)["body"] for file in files(folder) for line in file.read_text().splitlines()]
    of_second = [body for body in bodies if body["jobs"][0]["job"] == second.id]
    assert [body["event"] for body in of_second][:3] == ["placed", "launch", "launched"]
    assert {body["jobs"][0]["class"] for body in of_second} == {"internal"}


def test_an_order_written_without_a_daemon_is_done_by_the_next_daemon(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    slurm.daemon.kill()
    slurm.daemon.wait()
    job = submit(slurm, 2)
    slurm.wait_for(lambda: Store(slurm.directory / "burst.db").load().orders, "no order")
    assert instances(cloud) == {}
    slurm.programs.daemon()
    assert slurm.wait(job).state == "COMPLETED"


def test_insufficient_capacity_requeues_a_job_at_once_and_it_runs_with_new_capacity(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start(suspend_time=5)
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/use1-az6": 0})
    job = submit(slurm, 2)
    slurm.wait_for(lambda: job.restarts > 0, "the job was not requeued")
    reason = next(reason for _, state, reason in job.history if state == "PENDING" and reason)
    assert reason.startswith("landbridge: CAPACITY")
    assert instances(cloud) == {}  # never half a gang
    offerings = [record.details["offering"] for record in records(slurm, "not-launched", job)]
    # Cheapest first. On a busy machine the first may be tried again before the second.
    assert list(dict.fromkeys(offerings)) == ["p5.48xlarge/use1-az4/on-demand", "p5.48xlarge/use1-az6/on-demand"]
    slurm.wait_for(lambda: job.admin_comment, "the job has no comment")
    cloud.control(pool={"p5.48xlarge/use1-az6": 4})
    assert job.eligible > time.time() + 10  # it is not tried again at once, unless a user releases it
    with slurm.lock:
        job.eligible = 0.0
    assert slurm.wait(job).state == "COMPLETED"
    assert {launched[0]["zone"] for launched in instances(cloud).values()} == {"us-east-1a"}


def test_a_terminated_instance_requeues_its_job(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    job = submit(slurm, 1, "[ $SLURM_RESTART_COUNT = 1 ] || sleep 60")
    slurm.wait_for(lambda: job.state == "RUNNING", "not running")
    client_of(cloud, "ec2").terminate_instances(InstanceIds=[instances(cloud)["p5-1"][0]["id"]])
    assert slurm.wait(job).state == "COMPLETED"
    assert job.restarts == 1


def test_a_node_that_does_not_register_is_given_up(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    cloud.control(boot=600)
    slurm = start(resume_timeout=6)
    job = submit(slurm)
    slurm.wait_for(lambda: instances(cloud), "not launched")
    slurm.wait_for(lambda: job.restarts > 0, "the node was not given up")
    assert "RUNNING" not in [state for _, state, *_ in job.history]
    slurm.cancel(job)
    wait_for_no_instances(slurm, cloud)
    assert instances(cloud) == {}


def test_jobs_with_restricted_data_start_no_instance(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    jobs = [submit(slurm, account=account) for account in ("patients", "nobody", "")]
    slurm.wait_for(lambda: all(job.restarts for job in jobs), "not refused")
    assert all("RESIDENCY" in job.history[2][2] for job in jobs)
    assert "RunInstances" not in cloud.control()["calls"]


def test_a_power_up_without_a_job_launches_instances(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    slurm.power_up(["p5-3", "p5-4"])
    slurm.wait_for(lambda: slurm.nodes["p5-3"].up and slurm.nodes["p5-4"].up, "not up")
    assert sorted(instances(cloud)) == ["p5-3", "p5-4"]
    assert "landbridge:job" not in instances(cloud)["p5-3"][0]["tags"]


def test_a_batch_keeps_the_instances_that_had_capacity(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start({"insufficient_capacity_seconds": [600, 1200]})
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/use1-az6": 1})
    jobs = [submit(slurm) for _ in range(3)]
    slurm.wait_for(lambda: sum(job.state == "COMPLETED" for job in jobs) == 2, "two jobs did not complete")
    (third,) = (job for job in jobs if job.state != "COMPLETED")
    slurm.wait_for(lambda: "CAPACITY" in third.history[-1][2], "the third was not refused")
    assert third.state == "PENDING" and len({job.nodes for job in jobs if job is not third}) == 2


def test_a_quota_error_tries_the_next_offering_and_throttling_is_retried(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    cloud.control(faults={"RunInstances": {"code": "RequestLimitExceeded", "status": 503, "times": 2}})
    assert slurm.wait(submit(slurm)).state == "COMPLETED"
    slurm.wait_idle()  # otherwise the gang joins a node that is up, and then has only offerings of its zone
    cloud.control(faults={"RunInstances": {"code": "VcpuLimitExceeded", "message": "0 vCPUs", "times": 1}})
    job = submit(slurm, 2)
    assert slurm.wait(job).state == "COMPLETED"


def test_a_configuration_error_at_every_offering_opens_the_circuit_breaker(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    cloud.control(faults={"RunInstances": {"code": "UnauthorizedOperation", "status": 403, "times": 2}})
    job = submit(slurm, 2)
    slurm.wait_for(lambda: job.restarts > 0, "the job was not requeued")
    assert "p5" in Store(slurm.directory / "burst.db").load().breakers
    before = cloud.control()["calls"]["RunInstances"]
    slurm.wait_for(lambda: job.restarts > 1 or job.admin_comment, "the job has no comment")
    time.sleep(2)
    assert cloud.control()["calls"]["RunInstances"] == before  # the circuit breaker stops launches of the pool


@pytest.mark.parametrize("after", [0.05, 0.6, 1.3])
def test_a_daemon_killed_during_a_launch_launches_once(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm], after: float
) -> None:
    slurm = start()
    slurm.wait_for(lambda: (slurm.directory / "burst.db").exists(), "not started")
    time.sleep(1.5)
    cloud.control(latency=0.5)
    job = submit(slurm, 2)
    slurm.wait_for(lambda: Store(slurm.directory / "burst.db").load().orders, "no order")
    time.sleep(after)
    slurm.daemon.kill()
    slurm.daemon.wait()
    slurm.programs.daemon()
    assert slurm.wait(job).state == "COMPLETED"
    cloud.control(latency=0)
    assert {name: len(launched) for name, launched in instances(cloud).items()} == {"p5-1": 1, "p5-2": 1}
    assert len(cloud.control()["instances"]) == 2


def test_a_lost_journal_does_not_lose_instances(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start(suspend_time=2)
    job = submit(slurm, 2, "sleep 6")
    slurm.wait_for(lambda: job.state == "RUNNING", "not running")
    slurm.daemon.kill()
    slurm.daemon.wait()
    for path in slurm.directory.glob("burst.db*"):
        path.unlink()
    slurm.programs.daemon()
    assert slurm.wait(job).state == "COMPLETED"
    assert job.restarts == 0
    wait_for_no_instances(slurm, cloud)
