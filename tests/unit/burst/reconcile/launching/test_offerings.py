"""Choice of an offering for a gang, and the rejection of every other offering."""

import pytest

from landbridge.burst.model import Down, InsufficientCapacity, Launch, State
from landbridge.burst.reconcile.budget import Ledger
from landbridge.burst.reconcile.launching.offerings import choose
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    decide,
    ec2,
    end,
    events,
    instance,
    job,
    of,
    offering,
    only_launch,
    site,
    slurm,
    success,
)

DRY = InsufficientCapacity(NOW + 100, 1, "InsufficientInstanceCapacity")
GANG = job(1, "g-1", "g-2", "g-3", "g-4")


def rejected(decision):
    (record,) = [*events(decision, "launch"), *events(decision, "exhausted")]
    return [(entry["offering"], entry["code"]) for entry in record.details["rejected"]]


def test_the_first_offering_is_chosen():
    decision = decide(slurm(GANG), ec2())
    assert only_launch(decision).offering.key == "p5/a/on-demand" and rejected(decision) == []


@pytest.mark.parametrize(
    ("first", "code"),
    [
        (offering("c", opens=NOW + 60), "WINDOW"),
        (offering("c", closes=NOW + 3600), "WINDOW"),  # the job alone runs until then
        (offering("c", size=3), "SIZE"),
        (offering("c", "p5", "spot", usd=9.0, max_price_usd=8.0), "PRICE"),
    ],
)
def test_an_offering_that_does_not_fit_is_rejected_with_a_reason(first, code):
    decision = decide(slurm(GANG), ec2(), policy=site((first, offering("a"))))
    assert only_launch(decision).offering.zone == "a"
    assert rejected(decision) == [(first.key, code)]


def test_an_offering_with_insufficient_capacity_is_skipped_until_its_time_has_passed():
    state = State(insufficient_capacity={"p5/a/on-demand": DRY})
    assert only_launch(decide(slurm(GANG), ec2(), state)).offering.zone == "b"
    assert only_launch(decide(slurm(GANG), ec2(), state, now=NOW + 100)).offering.zone == "a"


def test_a_capacity_block_gets_only_jobs_that_end_before_it_closes():
    block = offering("c", market="capacity-block", usd=5.0, size=8, opens=NOW - 60, closes=NOW + 3700)
    assert only_launch(decide(slurm(GANG), ec2(), policy=site((block, offering("a"))))).offering.zone == "c"
    endless = job(1, "g-1", "g-2", minutes=None)
    assert only_launch(decide(slurm(endless), ec2(), policy=site((block, offering("a"))))).offering.zone == "a"


def test_short_jobs_use_a_capacity_block_also_beside_long_ones():
    block = offering("c", market="capacity-block", usd=5.0, size=8, opens=NOW - 60, closes=NOW + 3700)
    decision = decide(slurm(job(1, "g-1"), job(2, "g-2", minutes=600)), ec2(), policy=site((block, offering("a"))))
    assert {launch.gang.jobs: launch.offering.zone for launch in of(decision, Launch)} == {(1,): "c", (2,): "a"}


def test_a_reservation_gets_no_more_nodes_than_its_size():
    small = offering("c", size=3)
    policy = site((small, offering("a")))
    first = decide(slurm(job(1, "g-1", "g-2")), ec2(), policy=policy)
    launch = only_launch(first)
    assert launch.offering.zone == "c"
    state = end(first, launch, success(launch), policy)
    second = decide(slurm(job(1, "g-1", "g-2"), job(2, "g-3", "g-4")), ec2(), state, policy)
    assert only_launch(second).offering.zone == "a"


def test_a_batch_is_spread_over_offerings():
    policy = site((offering("c", size=3), offering("a")))
    decision = decide(slurm(*(job(n, f"g-{n}") for n in range(1, 6))), ec2(), policy=policy)
    assert [(launch.offering.zone, launch.gang.nodes) for launch in of(decision, Launch)] == [
        ("c", ("g-1", "g-2", "g-3")),
        ("a", ("g-4", "g-5")),
    ]


def test_a_gang_without_an_offering_is_given_up_with_all_rejections():
    insufficient_capacity = {f"p5/{zone}/on-demand": DRY for zone in "ab"} | {
        "p5e/b/on-demand": InsufficientCapacity(NOW + 50, 1, "VcpuLimitExceeded")
    }
    decision = decide(slurm(GANG), ec2(), State(insufficient_capacity=insufficient_capacity))
    (down,) = of(decision, Down)
    assert (down.nodes, down.code) == (("g-1", "g-2", "g-3", "g-4"), "CAPACITY")
    assert [code for _, code in rejected(decision)] == ["CAPACITY", "CAPACITY", "QUOTA"]
    assert decision.state.backoffs[1].code == "CAPACITY" and not decision.state.backoffs[1].reported


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (site((offering("a", usd=1000.0),)), "BUDGET"),
        (site((offering("a", usd=None),)), "BUDGET"),
        (site(()), "CAPACITY"),
        (site((offering("a", opens=NOW + 9),)), "CAPACITY"),
    ],
)
def test_the_code_of_a_refused_gang_is_its_most_important_reason(policy, code):
    (down,) = of(decide(slurm(job(1, "g-1", "g-2", account="poor")), ec2(), policy=policy), Down)
    assert down.code == code


def test_an_offering_without_a_price_is_used_without_a_hard_cap_or_if_permitted():
    offerings = (offering("a", usd=None),)
    assert of(decide(slurm(job(1, "g-1", "g-2")), ec2(), policy=site(offerings)), Launch)
    allowed = site(offerings, unpriced=True)
    assert of(decide(slurm(job(1, "g-1", "g-2", account="poor")), ec2(), policy=allowed), Launch)


def test_a_node_that_joins_a_launch_of_the_same_job_has_its_type():
    view = slurm(job(1, "g-1", "g-2"), states={"g-1": BUSY})
    up = instance("i-1", "g-1", subnet="subnet-b", type="p5e", jobs=(1,))
    assert only_launch(decide(view, ec2(up))).offering.key == "p5e/b/on-demand"
    # An instance launched for another job may be of another type: Slurm chose it.
    assert only_launch(decide(view, ec2(instance("i-1", "g-1", subnet="subnet-b")))).offering.key == "p5/b/on-demand"


def test_a_choice_without_an_offering_has_a_reason():
    policy = site(())
    pool = policy.pools["gpu"]
    gang = only_launch(decide(slurm(GANG), ec2())).gang
    choice = choose(gang, pool, State(), policy, Ledger.of(State(), policy, NOW), {}, NOW)
    assert choice.offering is None and choice.verdict() == ("CAPACITY", "the pool has no offering")
