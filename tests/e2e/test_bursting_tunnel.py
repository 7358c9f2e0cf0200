"""Failures of the tunnel: while nodes start, while a job runs, and for an hour (sixty times faster than real time)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sandbox.demo.bring_up import BringUp
from sandbox.nspawn.network import bridges as network
from tests.e2e.support.burst_conditions import has
from tests.e2e.support.bursting import Bursting, fresh, scaled

pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.long]
#: Slurm's SlurmdTimeout in the sandbox is 900 s: an hour there corresponds to a minute here.
HOUR_SECONDS, SLURMD_TIMEOUT_SECONDS = 60, 15


@pytest.fixture(scope="module")
def bursting(deployment: BringUp) -> Iterator[Bursting]:
    with scaled(deployment, SlurmdTimeout=SLURMD_TIMEOUT_SECONDS) as ready:
        yield ready


@pytest.fixture(autouse=True)
def _fresh(bursting: Bursting) -> Iterator[None]:
    yield from fresh(bursting)


@contextmanager
def cut(bursting: Bursting) -> Iterator[None]:
    """Cut the tunnel: no packet between the sites. EC2's API is not behind the tunnel."""
    port = network.interface("awsgw", 1)
    network.link_down(bursting.deployment.lab, port)
    try:
        yield
    finally:
        network.link_up(bursting.deployment.lab, port)
        bursting.deployment.wait_for_tunnel()


def test_tunnel_cut_while_nodes_start_the_job_runs_when_it_works_again(bursting: Bursting) -> None:
    bursting.cloud.control(boot=3)
    number = bursting.submit("--nodes=2", script="sleep 1")
    bursting.wait_for("two instances", lambda: bursting.alive(number), has(2), every=0.02)
    with cut(bursting):
        time.sleep(10)
    ended = bursting.ended(number)
    assert ended.restarts == 0
    assert len(bursting.launched(number)) == 2, "nothing was launched a second time"


def test_tunnel_cut_shorter_than_slurmd_timeout_a_job_continues(bursting: Bursting) -> None:
    number = bursting.submit("--nodes=2", script="sleep 25")
    bursting.running(number)
    with cut(bursting):
        time.sleep(SLURMD_TIMEOUT_SECONDS / 2)
    assert bursting.ended(number).restarts == 0
    assert len(bursting.launched(number)) == 2


def test_tunnel_cut_for_an_hour_slurm_and_ec2_agree_afterwards(bursting: Bursting) -> None:
    number = bursting.submit("--nodes=2", "--requeue", script="sleep 20")
    first = bursting.running(number)
    began = set(bursting.alive(number))
    with cut(bursting):
        time.sleep(HOUR_SECONDS)
        # Slurm has requeued the job; there are never more instances than nodes.
        assert bursting.job(number).restarts >= 1
        assert len(bursting.alive()) <= 4
    ended = bursting.ended(number)
    assert ended.restarts >= 1 and len(ended.nodes) == len(first.nodes)
    bursting.wait_for(
        "the instances that were cut off to end", bursting.alive, lambda instances: not began & set(instances), every=1
    )
    bursting.wait_until_off(every=1)
