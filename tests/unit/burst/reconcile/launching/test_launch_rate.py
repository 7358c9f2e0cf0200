"""Launches by EC2's token bucket of instances: 1,000 at once, then two a second (facts.json)."""

from dataclasses import replace

import pytest

from landbridge.burst.model import ActionOutcome, Down, Launch, State
from sandbox.aws_emulator.server.throttling import TokenBucket
from tests.unit.burst.situations import (
    NOW,
    at,
    decide,
    ec2,
    end,
    job,
    launched,
    of,
    offering,
    only_launch,
    site,
    slurm,
    success,
)

PASS = 15.0
LARGE = site((offering("a"), offering("b")), size=4000)


def gang(count, number=1, first=1, **fields):
    return job(number, *(f"g-{node}" for node in range(first, first + count)), started=NOW, **fields)


class Ec2:
    """EC2 that launches as its token bucket permits. `started`: time of each launch, by node."""

    def __init__(self) -> None:
        self.now = NOW
        self.bucket = TokenBucket(1000, 2, lambda: self.now)
        self.started: dict[str, float] = {}
        self.instances = ()
        self.throttled = 0

    def run(self, launch):
        if not self.bucket.take(len(launch.gang.nodes)):
            self.throttled += 1
            return ActionOutcome("RequestLimitExceeded")
        outcome = success(launch, len(self.started) + 1)
        self.started |= dict.fromkeys(outcome.instances, self.now)
        self.instances += launched(launch, outcome, self.now)
        return outcome


def run(view, cloud, seconds, state=None, policy=LARGE):
    """Make passes for `seconds`; return the state and the reasons of nodes that were set down."""
    state, downs = state or State(), []
    while cloud.now < NOW + seconds:
        decision = decide(at(view, cloud.now), ec2(*cloud.instances, at=cloud.now), state, policy, cloud.now)
        state = decision.state
        for launch in of(decision, Launch):
            state = end(replace(decision, state=state), launch, cloud.run(launch), policy, cloud.now)
        downs += of(decision, Down)
        cloud.now += PASS
    return state, downs


@pytest.mark.parametrize("count", [1601, 3000])
def test_a_gang_that_can_never_start_in_time_is_refused_at_once(count):
    decision = decide(slurm(gang(count)), ec2(), policy=LARGE)
    (down,) = decision.actions
    assert (down.code, len(down.nodes)) == ("RATE", count)
    assert "at most 1540 nodes" in down.text and "resume_timeout" in down.text


@pytest.mark.parametrize("waited", [5.0, 299.0, 3000.0])
def test_a_gang_for_which_there_are_tokens_starts_however_long_it_has_waited(waited):
    view = slurm(job(1, "g-1", "g-2", started=NOW - waited))
    short = replace(LARGE.pools["gpu"], resume_timeout=30.0)
    for policy in (LARGE, replace(LARGE, pools={**LARGE.pools, "gpu": short})):
        assert only_launch(decide(view, ec2(), policy=policy)).gang.nodes == ("g-1", "g-2")


def test_a_gang_larger_than_the_bucket_starts_as_the_bucket_refills_and_its_last_thousand_together():
    count, seconds = 1500, 250.0
    cloud = Ec2()
    _, downs = run(slurm(gang(count)), cloud, seconds + 3 * PASS)
    assert not downs and not cloud.throttled and len(cloud.started) == count
    finished = max(cloud.started.values())
    assert finished <= NOW + seconds + 2 * PASS
    idle_seconds = sum(finished - at for at in cloud.started.values())
    # The thousand first would wait 250 seconds each.
    assert idle_seconds < (count - 1000) * (seconds + 2 * PASS)
    assert sum(at == finished for at in cloud.started.values()) >= 900
    assert len({instance.subnet for instance in cloud.instances}) == 1


def test_a_gang_waits_for_tokens_without_a_launch_and_smaller_ones_go_on():
    cloud = Ec2()
    state, _ = run(slurm(gang(900)), cloud, PASS)
    view = slurm(gang(900), gang(500, 2, 1001), job(3, "b-1", "b-2", started=NOW))
    state, downs = run(view, cloud, 60, state)
    assert not downs and len(cloud.started) == 902 and "b-1" in cloud.started
    state, downs = run(view, cloud, 200 + 2 * PASS, state)
    assert not downs and not cloud.throttled and len(cloud.started) == 1402
    assert len({cloud.started[f"g-{node}"] for node in range(1001, 1501)}) == 1


def test_a_gang_is_refused_at_once_when_other_launches_leave_too_few_tokens():
    cloud = Ec2()
    state, _ = run(slurm(gang(1000)), cloud, PASS)
    view = slurm(gang(1000), gang(900, 2, 1001))
    decision = decide(at(view, cloud.now), ec2(*cloud.instances), state, LARGE, cloud.now)
    (down,) = of(decision, Down)
    assert (down.code, len(down.nodes)) == ("RATE", 900) and "other launches" in down.text


def test_a_batch_gets_as_many_nodes_as_there_are_tokens():
    cloud = Ec2()
    jobs = [job(node, f"g-{node}", started=NOW) for node in range(1, 1301)]
    state, downs = run(slurm(*jobs), cloud, PASS)
    assert not downs and not cloud.throttled and len(cloud.started) == 1000
    _, downs = run(slurm(*jobs), cloud, 150 + 2 * PASS, state)
    assert not downs and len(cloud.started) == 1300


def test_the_nodes_of_a_batch_that_can_never_start_in_time_are_refused_at_once():
    jobs = [job(node, f"g-{node}", started=NOW) for node in range(1, 2001)]
    cloud = Ec2()
    _, (down,) = run(slurm(*jobs), cloud, PASS)
    assert (down.code, len(down.nodes)) == ("RATE", 400) and len(cloud.started) == 1000


def test_a_limit_that_aws_has_raised_is_used():
    policy = replace(LARGE, launch_bucket=5000, launch_per_second=50.0)
    assert len(only_launch(decide(slurm(gang(3000)), ec2(), policy=policy)).gang.nodes) == 3000
