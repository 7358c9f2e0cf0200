"""Another region: tried last, by those alone whose data may be there, and looked after like the policy's own."""

from dataclasses import replace
from typing import Any

import pytest

from landbridge.burst.aws.clouds import Clouds, clouds
from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.config.config import parse
from landbridge.burst.hooks.prolog_wait import denied
from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    Account,
    Down,
    Drought,
    Launch,
    Place,
    Policy,
    Pool,
    State,
    Terminate,
)
from landbridge.burst.reconcile.residency import refusal, regions
from tests.unit.burst import launches
from tests.unit.burst.situations import BUSY, NOW, decide, ec2, events, instance, job, of, place, site, slurm

FAR = "r-2"
NEAR, AWAY = place("a"), place("z", region=FAR)


def spread(**more: Any) -> Policy:
    """Two places, the second in another region, where lab's data may be and poor's may not."""
    policy = site((NEAR, AWAY), **more)
    accounts = {**policy.accounts, "lab": replace(policy.accounts["lab"], regions=(FAR,), data_class="open")}
    return replace(policy, accounts=accounts)


def dry(*places: Place) -> State:
    return State(droughts={one.key: Drought(NOW + 600, 1, "InsufficientInstanceCapacity") for one in places})


# Whose data may be there.


@pytest.mark.parametrize(
    ("account", "wckey", "region", "allowed"),
    [
        ("lab", "", FAR, True),
        ("lab", "", "r", True),
        ("lab", "", "r-3", False),
        ("poor", "", FAR, False),
        ("poor", "", "r", True),
        ("lab", "internal", FAR, False),  # the key names a class that is at home alone
        ("lab", "internal", "r", True),
        ("ward", "", FAR, False),
        ("nobody", "", FAR, False),
        ("root", "", FAR, True),  # the operators' own tests
    ],
)
def test_a_class_is_in_the_regions_that_it_lists_and_in_no_other(
    account: str, wckey: str, region: str, allowed: bool
) -> None:
    assert (refusal(spread(), account, wckey, region) is None) is allowed


def test_nodes_that_no_job_waits_for_start_at_home() -> None:
    assert regions(spread(), []) == frozenset()
    assert regions(spread(), [job(1, "g-1")]) == {FAR}
    assert regions(spread(), [job(1, "g-1"), job(2, "g-2", account="poor")]) == frozenset()


# Launches.


def test_it_is_asked_when_nothing_else_has_room() -> None:
    view = slurm(job(1, "g-1", "g-2"))
    assert [one.place for one in of(decide(view, ec2(), policy=spread()), Launch)] == [NEAR]
    (launch,) = of(decide(view, ec2(), dry(NEAR), policy=spread()), Launch)
    assert launch.place == AWAY and launch.gang.nodes == ("g-1", "g-2")


def test_a_job_whose_data_is_at_home_alone_waits_for_home() -> None:
    decision = decide(slurm(job(1, "g-1", "g-2", account="poor")), ec2(), dry(NEAR), policy=spread())
    (down,) = of(decision, Down)
    assert not of(decision, Launch) and down.code == "CAPACITY"
    (told,) = events(decision, "exhausted")
    assert [one["code"] for one in told.details["rejected"]] == ["CAPACITY", "REGION"]
    assert told.details["rejected"][1]["why"] == f"data of account poor may not be in {FAR}"


@pytest.mark.parametrize(("account", "code"), [("lab", None), ("poor", "REGION")])
def test_a_job_on_a_machine_that_was_up_there_is_stopped_where_it_may_not_be(account: str, code: str | None) -> None:
    view = slurm(job(1, "g-1", account=account, state="RUNNING"), states={"g-1": BUSY})
    there = replace(instance("i-1", "g-1", subnet=AWAY.subnet), region=FAR)
    decision = decide(view, ec2(there), policy=spread())
    assert [down.code for down in of(decision, Down)] == ([code] if code else [])
    assert bool(of(decision, Terminate)) is (code is not None)


def test_a_place_of_the_policys_own_region_may_say_so() -> None:
    home = replace(NEAR, region="r")
    policy = replace(spread(), pools={"gpu": Pool("gpu", "g-", 8, (home,))})
    assert of(decide(slurm(job(1, "g-1", account="poor")), ec2(), policy=policy), Launch)
    assert policy.regions == ("r",)


# The file.


def test_the_file_says_it(burst: dict[str, Any]) -> None:
    burst["pools"]["p5"]["places"][1]["region"] = "us-east-2"
    burst["accounts"]["vision"]["regions"] = ["us-east-2"]
    config = parse(burst)
    assert config.policy.regions == ("us-east-1", "us-east-2")
    assert config.policy.accounts["vision"] == Account("vision", "internal", True, regions=("us-east-2",))
    found = clouds(config)
    assert isinstance(found, Clouds) and set(found.others) == {"us-east-2"}


def test_one_region_has_one_client(burst: dict[str, Any]) -> None:
    assert isinstance(clouds(parse(burst)), Ec2)


# PrologSlurmctld.


def test_a_job_is_held_on_a_node_that_was_launched_where_it_may_not_be(burst: dict[str, Any], tmp_path: Any) -> None:
    burst["pools"]["p5"]["places"][1]["region"] = "us-east-2"
    burst["accounts"]["vision"]["regions"] = ["us-east-2"]
    burst["accounts"]["other"] = {"data_class": "internal-2", "aws": True}
    config = parse({**burst, "state_dir": str(tmp_path)})
    assert denied(config, "p5-[1-2]", "other") is None
    store, keys = Store(config.database), [one["key"] for one in burst["pools"]["p5"]["places"]]
    old = launches.attempt("p5-1", token="lb-1", place=keys[1], ended=1.0, instances={"p5-1": "i-1"}, made=1.0)
    new = launches.attempt("p5-2", token="lb-2", place=keys[1], ended=3.0, instances={"p5-2": "i-2"}, made=2.0)
    store.save(State(), State(attempts={"lb-1": old, "lb-2": new}))
    assert denied(config, "p5-[1-2]", "other") == "data of account other (internal-2) may not be in us-east-2"
    assert denied(config, "p5-[1-2]", "vision") is None
    assert denied(config, "p5-[3-4]", "other") is None
    later = replace(old, token="lb-3", place=keys[0], made=9.0)
    before = store.load()
    store.save(before, replace(before, attempts={**before.attempts, "lb-3": later}))
    assert denied(config, "p5-1", "other") is None  # it was launched at home since
    store.close()
