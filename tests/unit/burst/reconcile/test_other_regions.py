"""Offerings of another region: tried last, only for jobs whose data may be there, and managed like those of the own
region."""

from dataclasses import replace
from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.regions import Ec2Regions, ec2_of_regions
from landbridge.burst.config.config import parse
from landbridge.burst.model import (
    AccountPolicy,
    BurstPolicy,
    Down,
    InsufficientCapacity,
    Launch,
    Offering,
    PoolPolicy,
    State,
    Terminate,
)
from landbridge.burst.reconcile.residency import allowed_regions, reject_if_restricted
from tests.unit.burst.situations import BUSY, NOW, decide, ec2, events, instance, job, of, offering, site, slurm

FAR = "r-2"
NEAR, AWAY = offering("a"), offering("z", region=FAR)


def spread(**settings: Any) -> BurstPolicy:
    """Return a policy with two offerings, the second in another region, permitted to the data of account lab and not of
    poor."""
    policy = site((NEAR, AWAY), **settings)
    accounts = {**policy.accounts, "lab": replace(policy.accounts["lab"], regions=(FAR,), data_class="open")}
    return replace(policy, accounts=accounts)


def dry(*offerings: Offering) -> State:
    return State(
        insufficient_capacity={
            entry.key: InsufficientCapacity(NOW + 600, 1, "InsufficientInstanceCapacity") for entry in offerings
        }
    )


# Permission of accounts.


@pytest.mark.parametrize(
    ("account", "wckey", "region", "allowed"),
    [
        ("lab", "", FAR, True),
        ("lab", "", "r", True),
        ("lab", "", "r-3", False),
        ("poor", "", FAR, False),
        ("poor", "", "r", True),
        ("lab", "internal", FAR, False),  # the key names a class that is only in the policy's region
        ("lab", "internal", "r", True),
        ("ward", "", FAR, False),
        ("nobody", "", FAR, False),
        ("root", "", FAR, True),  # the operators' own tests
    ],
)
def test_data_is_permitted_only_in_the_regions_of_its_class(
    account: str, wckey: str, region: str, allowed: bool
) -> None:
    assert (reject_if_restricted(spread(), account, wckey, region) is None) is allowed


def test_nodes_without_a_job_start_in_the_own_region() -> None:
    assert allowed_regions(spread(), []) == frozenset()
    assert allowed_regions(spread(), [job(1, "g-1")]) == {FAR}
    assert allowed_regions(spread(), [job(1, "g-1"), job(2, "g-2", account="poor")]) == frozenset()


# Launches.


def test_the_other_region_is_used_if_the_own_region_has_no_capacity() -> None:
    view = slurm(job(1, "g-1", "g-2"))
    assert [launch.offering for launch in of(decide(view, ec2(), policy=spread()), Launch)] == [NEAR]
    (launch,) = of(decide(view, ec2(), dry(NEAR), policy=spread()), Launch)
    assert launch.offering == AWAY and launch.gang.nodes == ("g-1", "g-2")


def test_a_job_whose_data_may_not_be_in_the_other_region_waits_for_the_own_region() -> None:
    decision = decide(slurm(job(1, "g-1", "g-2", account="poor")), ec2(), dry(NEAR), policy=spread())
    (down,) = of(decision, Down)
    assert not of(decision, Launch) and down.code == "CAPACITY"
    (record,) = events(decision, "exhausted")
    assert [entry["code"] for entry in record.details["rejected"]] == ["CAPACITY", "REGION"]
    assert record.details["rejected"][1]["why"] == f"data of account poor may not be in {FAR}"


@pytest.mark.parametrize(("account", "code"), [("lab", None), ("poor", "REGION")])
def test_a_job_on_a_running_instance_in_a_forbidden_region_is_stopped(account: str, code: str | None) -> None:
    view = slurm(job(1, "g-1", account=account, state="RUNNING"), states={"g-1": BUSY})
    running = replace(instance("i-1", "g-1", subnet=AWAY.subnet, account=account), region=FAR)
    decision = decide(view, ec2(running), policy=spread())
    assert [down.code for down in of(decision, Down)] == ([code] if code else [])
    assert bool(of(decision, Terminate)) is (code is not None)


def test_an_offering_may_name_the_own_region() -> None:
    home = replace(NEAR, region="r")
    policy = replace(spread(), pools={"gpu": PoolPolicy("gpu", "g-", 8, (home,))})
    assert of(decide(slurm(job(1, "g-1", account="poor")), ec2(), policy=policy), Launch)
    assert policy.regions == ("r",)


# burst.json.


def test_regions_of_offerings_and_accounts_are_read_from_the_file(burst: dict[str, Any]) -> None:
    burst["pools"]["p5"]["offerings"][1]["region"] = "us-east-2"
    burst["accounts"]["vision"]["regions"] = ["us-east-2"]
    config = parse(burst)
    assert config.policy.regions == ("us-east-1", "us-east-2")
    assert config.policy.accounts["vision"] == AccountPolicy("vision", "internal", True, regions=("us-east-2",))
    client = ec2_of_regions(config)
    assert isinstance(client, Ec2Regions) and set(client.others) == {"us-east-2"}


def test_one_region_has_one_client(burst: dict[str, Any]) -> None:
    assert isinstance(ec2_of_regions(parse(burst)), Ec2)
