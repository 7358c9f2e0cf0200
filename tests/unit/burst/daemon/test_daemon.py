"""Jobs from submission to end: the real programs and the real daemon, the emulated AWS, a simulated Slurm."""
# ruff: noqa: F811 - fixtures are imported

import time
from collections.abc import Callable

import pytest

from landbridge.burst.journal.store import Store
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.embedded.slurm import SimulatedSlurm
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.burst.service import emulator, gone, instances, offering, records, start, submit  # noqa: F401


def test_second_job_bursts_while_the_first_holds_the_site(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start(suspend_time=1)
    first = submit(slurm, 2, "sleep 4; echo $SLURMD_NODENAME", partition="gpu")
    second = submit(slurm, 2, "echo $SLURM_PROCID $SLURM_NTASKS $SLURMD_NODENAME", partition="gpu")
    slurm.wait(second)
    tags = {name: found[0]["tags"] for name, found in instances(cloud).items()}
    assert (second.state, second.nodes, second.restarts) == ("COMPLETED", ("p5-1", "p5-2"), 0)
    assert (second.output(0), second.output(1)) == ("0 2 p5-1\n", "1 2 p5-2\n")
    slurm.wait(first)
    assert (first.nodes, first.output(1)) == (("dgx01", "dgx02"), "dgx02\n")
    slurm.wait_idle()
    gone(slurm, cloud)
    for name in ("p5-1", "p5-2"):
        assert tags[name]["landbridge:job"] == str(second.id)
        assert tags[name]["landbridge:nodes"] == "p5-[1-2]"
        assert tags[name]["landbridge:data-class"] == "internal"
        assert tags[name]["landbridge:lease-expires"] > time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    calls = cloud.control()["calls"]
    assert calls["RunInstances"] == 1 and "CreateFleet" not in calls
    assert [record.jobs for record in records(slurm, "launched", second)] == [(second.id,)]


def test_an_order_that_no_daemon_saw_is_done_by_the_next(
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


def test_drought_requeues_at_once_and_the_job_runs_when_there_is_capacity(
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
    slurm.wait_for(lambda: job.comment, "the user was not told")
    cloud.control(pool={"p5.48xlarge/use1-az6": 4})
    assert job.eligible > time.time() + 10  # it is not tried again at once, unless a person wants it to
    with slurm.lock:
        job.eligible = 0.0
    assert slurm.wait(job).state == "COMPLETED"
    assert {found[0]["zone"] for found in instances(cloud).values()} == {"us-east-1a"}


def test_lost_instance_requeues_its_job(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    job = submit(slurm, 1, "[ $SLURM_RESTART_COUNT = 1 ] || sleep 60")
    slurm.wait_for(lambda: job.state == "RUNNING", "not running")
    client_of(cloud, "ec2").terminate_instances(InstanceIds=[instances(cloud)["p5-1"][0]["id"]])
    assert slurm.wait(job).state == "COMPLETED"
    assert job.restarts == 1


def test_node_that_never_comes_is_given_up(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    cloud.control(boot=600)
    slurm = start(resume_timeout=6)
    job = submit(slurm)
    slurm.wait_for(lambda: instances(cloud), "not launched")
    slurm.wait_for(lambda: job.restarts > 0, "the node was not given up")
    assert "RUNNING" not in [state for _, state, *_ in job.history]
    slurm.cancel(job)
    gone(slurm, cloud)
    assert instances(cloud) == {}


def test_restricted_data_stays_here(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    jobs = [submit(slurm, account=account) for account in ("patients", "nobody", "")]
    slurm.wait_for(lambda: all(job.restarts for job in jobs), "not refused")
    assert all("RESIDENCY" in job.history[2][2] for job in jobs)
    assert "RunInstances" not in cloud.control()["calls"]


def test_power_up_without_a_job(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    slurm.power_up(["p5-3", "p5-4"])
    slurm.wait_for(lambda: slurm.nodes["p5-3"].up and slurm.nodes["p5-4"].up, "not up")
    assert sorted(instances(cloud)) == ["p5-3", "p5-4"]
    assert "landbridge:job" not in instances(cloud)["p5-3"][0]["tags"]


def test_partial_batch_keeps_what_it_got(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start({"insufficient_capacity_seconds": [600, 1200]})
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/use1-az6": 1})
    jobs = [submit(slurm) for _ in range(3)]
    slurm.wait_for(lambda: sum(job.state == "COMPLETED" for job in jobs) == 2, "two have room")
    (third,) = (job for job in jobs if job.state != "COMPLETED")
    slurm.wait_for(lambda: "CAPACITY" in third.history[-1][2], "the third was not refused")
    assert third.state == "PENDING" and len({job.nodes for job in jobs if job is not third}) == 2


def test_quota_goes_on_to_the_next_place_and_throttling_is_waited_out(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    cloud.control(faults={"RunInstances": {"code": "RequestLimitExceeded", "status": 503, "times": 2}})
    assert slurm.wait(submit(slurm)).state == "COMPLETED"
    slurm.wait_idle()  # a gang joins a node that is up in its zone, and has no other offering then
    cloud.control(faults={"RunInstances": {"code": "VcpuLimitExceeded", "message": "0 vCPUs", "times": 1}})
    job = submit(slurm, 2)
    assert slurm.wait(job).state == "COMPLETED"


def test_settings_that_are_wrong_open_the_breaker(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
    slurm = start()
    cloud.control(faults={"RunInstances": {"code": "UnauthorizedOperation", "status": 403}})
    job = submit(slurm, 2)
    slurm.wait_for(lambda: job.restarts > 0, "the job was not requeued")
    assert "p5" in Store(slurm.directory / "burst.db").load().breakers
    before = cloud.control()["calls"]["RunInstances"]
    slurm.wait_for(lambda: job.restarts > 1 or job.comment, "not told")
    time.sleep(2)
    assert cloud.control()["calls"]["RunInstances"] == before  # the breaker keeps the pool from trying


@pytest.mark.parametrize("after", [0.05, 0.6, 1.3])
def test_killed_during_a_launch_it_launches_once(
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
    assert {name: len(found) for name, found in instances(cloud).items()} == {"p5-1": 1, "p5-2": 1}
    assert len(cloud.control()["instances"]) == 2


def test_a_lost_journal_loses_no_instance(cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]) -> None:
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
    gone(slurm, cloud)
