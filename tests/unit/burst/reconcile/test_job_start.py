"""Start of a job on nodes in AWS: its data, the region of its nodes, and the states of its nodes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.config.config import load, parse
from landbridge.burst.model import BurstPolicy, CloudInstance, Ec2View, Observation, ObservationKind, State
from landbridge.burst.reconcile.job_start import (
    JobStart,
    cloud_nodes,
    reason_to_hold,
    refusal,
    refusal_in_regions,
    refused_regions,
    regions_of_nodes,
    verdict,
)
from landbridge.hostlist import expand
from tests.unit.burst import launches

#: Nodes p5-1 to p5-16 are in AWS; the data of account patients may not be there.
SAMPLE = Path(__file__).parents[1] / "data" / "burst.json"


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], "wait"),
        ([{"ALLOCATED", "CLOUD"}], "up"),
        ([{"ALLOCATED", "CLOUD"}, {"ALLOCATED", "CLOUD", "POWERING_UP"}], "wait"),
        ([{"ALLOCATED", "NOT_RESPONDING"}], "wait"),
        ([{"ALLOCATED", "CLOUD", "DRAIN", "POWER_DOWN"}], "up"),
        ([{"ALLOCATED", "POWERING_UP"}, {"DOWN", "CLOUD", "POWERING_DOWN"}], "down"),
        ([{"ALLOCATED", "POWERING_UP"}, {"IDLE", "CLOUD", "POWERED_DOWN"}], "down"),
        ([{"IDLE", "CLOUD", "POWERING_DOWN"}], "down"),
    ],
)
def test_the_verdict_follows_from_the_states_of_the_nodes(states: list[set[str]], expected: str) -> None:
    assert verdict(frozenset(state) for state in states) == expected


@pytest.mark.parametrize(
    ("nodes", "account", "wckey", "words"),
    [
        ("p5-[1-2]", "vision", "", None),
        ("p5-[1-2]", "patients", "", "data of account patients"),
        ("p5-1", "vision", "patients", "'patients'"),
        ("p5-1", "", "", "not one of those"),
        ("dgx[01-04]", "patients", "", None),
        ("dgx01,p5-3", "patients", "", "data of account patients"),
    ],
)
def test_a_job_is_refused_on_nodes_in_aws_that_its_data_may_not_use(
    nodes: str, account: str, wckey: str, words: str | None
) -> None:
    message = refusal(JobStart("7", tuple(expand(nodes)), account, wckey), load(SAMPLE).policy)
    assert message is None if words is None else message is not None and words in message


@pytest.fixture
def two_regions(burst: dict[str, Any]) -> BurstPolicy:
    """Return a policy whose second offering is in another region, which account vision may use and other may not."""
    burst["pools"]["p5"]["offerings"][1]["region"] = "us-east-2"
    burst["accounts"]["vision"]["regions"] = ["us-east-2"]
    burst["accounts"]["other"] = {"data_class": "internal-2", "aws": True}
    return parse(burst).policy


def test_only_jobs_that_may_not_be_everywhere_depend_on_the_region(two_regions: BurstPolicy) -> None:
    assert refused_regions(JobStart("7", ("p5-1",), "vision"), two_regions) == {}
    assert refused_regions(JobStart("7", ("dgx01",), "other"), two_regions) == {}
    refused = refused_regions(JobStart("7", ("p5-1",), "other"), two_regions)
    assert refused == {"us-east-2": "data of account other (internal-2) may not be in us-east-2"}


def test_the_region_of_a_node_is_that_of_its_last_launch_or_of_its_instance(two_regions: BurstPolicy) -> None:
    home, away = (offering.key for offering in two_regions.pools["p5"].offerings[:2])
    old = launches.attempt("p5-1", token="lb-1", offering=away, ended=1.0, instances={"p5-1": "i-1"}, created_at=1.0)
    new = replace(old, token="lb-2", offering=home, created_at=2.0)
    other = launches.attempt("p5-2", token="lb-3", offering=away, ended=3.0, instances={"p5-2": "i-2"}, created_at=3.0)
    state = State(attempts={"lb-3": other, "lb-2": new, "lb-1": old})
    assert regions_of_nodes(state, None, two_regions) == {"p5-1": "us-east-1", "p5-2": "us-east-2"}
    instance = CloudInstance("i-9", "p5-1", "running", "", "", "", "on-demand", 9.0, region="us-east-2")
    ended = replace(instance, id="i-8", node="p5-2", state="shutting-down", region="")
    shown = Ec2View(9.0, (instance, ended))
    assert regions_of_nodes(state, shown, two_regions) == {"p5-1": "us-east-2", "p5-2": "us-east-2"}


def test_a_node_whose_region_is_unknown_is_refused(two_regions: BurstPolicy) -> None:
    start = JobStart("7", ("dgx01", "p5-1", "p5-2"), "other")
    nodes, refused = cloud_nodes(start, two_regions), refused_regions(start, two_regions)
    known = {"p5-1": "us-east-1", "p5-2": "us-east-1"}
    assert refusal_in_regions(nodes, refused, known) is None
    assert "may not be in us-east-2" in (refusal_in_regions(nodes, refused, {**known, "p5-2": "us-east-2"}) or "")
    assert "region of p5-2 is not known" in (refusal_in_regions(nodes, refused, {"p5-1": "us-east-1"}) or "")
    assert refusal_in_regions(nodes, {}, {}) is None


@pytest.mark.parametrize(
    ("zones", "nodes", "is_held"),
    [
        (("use1-az4", "use1-az6"), "p5-[1-2]", True),
        (("use1-az4", "use1-az4"), "p5-[1-2]", False),
        (("use1-az4", "use1-az6"), "p5-1", False),
        (("use1-az4", "use1-az6"), "p5-1,dgx01", False),
        (("use1-az4",), "p5-[1-2]", False),
    ],
    ids=["two zones", "one zone", "one node", "with an on-prem node", "a node without a launch"],
)
def test_the_journal_shows_whether_nodes_are_apart(zones: tuple[str, ...], nodes: str, is_held: bool) -> None:
    start = JobStart("7", tuple(expand(nodes)), "vision")
    reason = reason_to_hold(start, 10.0, (20.0, launches.in_zones(load(SAMPLE).policy, *zones)), load(SAMPLE).policy)
    assert reason == ("its nodes are in p5.48xlarge/use1-az4 (1), p5.48xlarge/use1-az6 (1)" if is_held else None)


@pytest.mark.parametrize(
    ("began", "reported", "is_held"), [(20.0, "7", False), (10.0, "7", False), (9.0, "7", True), (20.0, "8", True)]
)
def test_a_pass_that_began_when_the_nodes_were_up_leaves_a_job_apart(
    began: float, reported: str, is_held: bool
) -> None:
    journal = replace(
        launches.in_zones(load(SAMPLE).policy, "use1-az4", "use1-az6"),
        first_seen={Observation(ObservationKind.JOB_APART, reported): 1.0},
    )
    start = JobStart("7", ("p5-1", "p5-2"), "vision")
    assert (reason_to_hold(start, 10.0, (began, journal), load(SAMPLE).policy) is not None) is is_held


def test_before_the_first_pass_a_job_waits_only_if_its_nodes_may_be_apart() -> None:
    policy = load(SAMPLE).policy
    assert reason_to_hold(JobStart("7", ("p5-1", "p5-2"), "vision"), 10.0, None, policy) is not None
    assert reason_to_hold(JobStart("7", ("p5-1", "dgx01"), "vision"), 10.0, None, policy) is None
    pool = replace(policy.pools["p5"], offerings=policy.pools["p5"].offerings[:1])
    single = replace(policy, pools={"p5": pool})
    assert reason_to_hold(JobStart("7", ("p5-1", "p5-2"), "vision"), 10.0, None, single) is None
