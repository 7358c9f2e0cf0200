"""Throttled launches: a pool waits in the region that throttles it, and the other pools and regions go on."""

import pytest

from landbridge.burst.model import AccountPolicy, ActionOutcome, Launch
from tests.unit.burst.situations import NOW, at, decide, ec2, end, job, of, offering, only_launch, site, slurm

GPU, BIG = job(1, "g-1", "g-2"), job(2, "b-1", "b-2")
THROTTLED, UNANSWERED = ActionOutcome("RequestLimitExceeded"), ActionOutcome("ReadTimeoutError")


def pools_launched(decision):
    return {launch.gang.pool for launch in of(decision, Launch)}


@pytest.mark.parametrize(("outcome", "others"), [(THROTTLED, {"big"}), (UNANSWERED, set())])
def test_a_throttled_pool_does_not_stop_another_one(outcome, others):
    first = decide(slurm(GPU), ec2())
    state = end(first, only_launch(first), outcome)
    both = slurm(GPU, BIG)
    assert pools_launched(decide(at(both, NOW + 1), ec2(), state, now=NOW + 1)) == others
    assert pools_launched(decide(at(both, NOW + 6), ec2(), state, now=NOW + 6)) == {"gpu", "big"}


def test_a_success_of_one_pool_does_not_end_the_wait_of_another():
    both = slurm(GPU, BIG)
    first = decide(both, ec2())
    gpu, big = of(first, Launch)
    state = end(first, gpu, THROTTLED)
    state = decide(both, ec2(), state).state
    nodes = {node: f"i-{node}" for node in big.gang.nodes}
    state = end(decide(both, ec2(), state), big, ActionOutcome(instances=nodes))
    waiting = decide(at(both, NOW + 1), ec2(), state, now=NOW + 1)
    assert not of(waiting, Launch) and waiting.next_pass is not None and waiting.next_pass <= NOW + 5


def test_another_region_is_not_throttled():
    near, far = offering("a", size=2), offering("z", region="r-2")
    policy = site((near, far), accounts={"lab": AccountPolicy("lab", "internal", True, regions=("r-2",))})
    first = decide(slurm(GPU), ec2(), policy=policy)
    state = end(first, only_launch(first), THROTTLED, policy)
    second = job(3, "g-3", "g-4")  # the reservation has no room for it
    decision = decide(at(slurm(GPU, second), NOW + 1), ec2(), state, policy, NOW + 1)
    assert [launch.offering.key for launch in of(decision, Launch)] == [far.key]
