"""Which waiting jobs are let into the cloud: those that would wait too long, may go there, and can be paid for."""

from dataclasses import replace

import pytest

from landbridge.burst.model import Backoff, CircuitBreaker, Promote, PromotionPolicy, State
from tests.unit.burst.situations import NOW, decide, ec2, job, of, offering, site, slurm

POLICY = site(promotions=(PromotionPolicy("gpu-home", ("gpu",), 600.0),))


def waiting(id=1, **more):
    more = {"wanted_nodes": 2, "submitted": NOW - 30, "started": None, **more}
    return replace(job(id, state="PENDING", **more), partition=more.get("partition", "gpu-home"))


def promoted(*jobs, state=None, policy=POLICY):
    decision = decide(slurm(*jobs), ec2(), state, policy)
    return [(action.job, action.partitions) for action in of(decision, Promote)]


@pytest.mark.parametrize(
    ("more", "yes"),
    [
        ({"expected_start": NOW + 601}, True),
        ({"expected_start": NOW + 599}, False),
        ({"submitted": NOW - 601}, True),
        ({"submitted": NOW - 599}, False),
        ({"submitted": NOW - 3600, "expected_start": NOW + 60}, False),  # it starts at home before a node could boot
        ({"submitted": NOW - 3600, "expected_start": NOW - 60}, True),  # an estimate that has passed is none
        ({"submitted": None}, False),
        ({"submitted": NOW - 3600, "account": "ward"}, False),
        ({"submitted": NOW - 3600, "account": "nobody"}, False),
        ({"submitted": NOW - 3600, "wckey": "patients"}, False),
        ({"submitted": NOW - 3600, "account": "poor", "minutes": 6000}, False),
        ({"submitted": NOW - 3600, "wanted_nodes": 9}, False),
        ({"submitted": NOW - 3600, "partition": "gpu-home,gpu"}, False),  # it may already
        ({"submitted": NOW - 3600, "partition": "cpu"}, False),
    ],
)
def test_who_is_let_in(more, yes):
    partition = more.pop("partition", "gpu-home")
    found = replace(waiting(**more), partition=partition)
    assert promoted(found) == ([(1, ("gpu",))] if yes else [])


@pytest.mark.parametrize(
    "state",
    [
        State(drained={"gpu": "work"}),
        State(breakers={"gpu": CircuitBreaker("x", "", NOW, 1, NOW + 60)}),
        State(backoffs={1: Backoff(NOW + 60, 1, "CAPACITY", "x")}),
    ],
)
def test_nobody_is_sent_where_nothing_starts(state):
    assert promoted(waiting(submitted=NOW - 3600), state=state) == []


def test_money_is_counted_over_all_who_are_let_in():
    many = [waiting(n, submitted=NOW - 3600 - n, account="poor", minutes=100) for n in (1, 2, 3)]
    assert [id for id, _ in promoted(*many)] == [3, 2]  # 37 USD each of 100, the longest waiting first


def test_without_a_price_a_hard_cap_keeps_it_out():
    policy = replace(site((offering("a", usd=None),)), promotions=POLICY.promotions)
    assert promoted(waiting(submitted=NOW - 3600, account="poor"), policy=policy) == []
    assert promoted(waiting(submitted=NOW - 3600), policy=policy)


def test_a_pass_is_due_when_the_wait_becomes_too_long():
    assert decide(slurm(waiting(submitted=NOW - 500)), ec2(), policy=POLICY).next_pass == NOW + 100
