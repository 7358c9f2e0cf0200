"""Order of spot zones by recent refusals; all other offerings stay in the order of the environment."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model import ActionOutcome, InsufficientCapacity, SlurmNode, State
from landbridge.burst.reconcile.launching.spot_interruptions import SPOT_CODE, SPOT_REASON
from landbridge.burst.reconcile.launching.spot_order import in_launch_order
from tests.unit.burst.situations import (
    NOW,
    at,
    decide,
    ec2,
    end,
    instance,
    job,
    offering,
    only_launch,
    site,
    slurm,
)

SPOT = tuple(offering(zone, market="spot") for zone in "abc")
NO_CAPACITY = ActionOutcome("InsufficientInstanceCapacity", "none")
HOUR = 3600.0


def refused(tries: int = 1, code: str = "InsufficientInstanceCapacity") -> InsufficientCapacity:
    return InsufficientCapacity(NOW - 1, tries, code)


def zones(offerings, refusals) -> str:
    return "".join(entry.zone for entry in in_launch_order(offerings, refusals, NOW))


@pytest.mark.parametrize(
    ("refusals", "order"),
    [
        ({}, "abc"),
        ({"a": refused()}, "bca"),
        ({"a": refused(), "b": refused(2)}, "cab"),
        ({"a": refused(), "b": refused(), "c": refused()}, "abc"),
        ({"a": refused(code="MaxSpotInstanceCountExceeded")}, "abc"),  # a quota is of the region
        ({"a": refused(code="UnauthorizedOperation")}, "abc"),
        ({"a": refused(code="SpotMaxPriceTooLow")}, "bca"),
        ({"a": refused(code=SPOT_CODE)}, "bca"),
    ],
)
def test_spot_zones_are_ordered_by_their_refusals(refusals, order):
    assert zones(SPOT, {f"p5/{zone}/spot": refusal for zone, refusal in refusals.items()}) == order


def test_only_adjacent_spot_offerings_of_the_same_type_price_and_region_change_places():
    dear, other = offering("d", market="spot", usd=11.0), offering("e", "p5e", "spot")
    away = offering("f", market="spot", region="r2")
    mixed = (offering("a"), offering("b"), SPOT[0], SPOT[1], dear, other, away, offering("g"), SPOT[2])
    refusals = {entry.key: refused() for entry in mixed if entry.zone not in "bg"}
    assert zones(mixed, refusals) == "ab" + "ba" + "defgc"
    del refusals[SPOT[0].key]
    assert zones(mixed, refusals) == "ab" + "ab" + "defgc"


@given(
    st.lists(st.sampled_from([*SPOT, offering("a"), offering("b"), offering("a", "p5e", "spot")]), max_size=8),
    st.dictionaries(st.sampled_from([entry.key for entry in SPOT]), st.builds(refused, st.integers(1, 9))),
)
def test_no_offering_is_lost_and_kinds_stay_in_their_order(offerings, refusals):
    result = list(in_launch_order(offerings, refusals, NOW))
    assert sorted(entry.key for entry in result) == sorted(entry.key for entry in offerings)
    assert [(e.market, e.instance_type) for e in result] == [(e.market, e.instance_type) for e in offerings]


def first_zones(market: str, hours: float) -> tuple[list[str], int]:
    """Return the zones of launches of jobs one after the other, while zone a has no capacity, and the refused calls."""
    policy = site(tuple(offering(zone, market=market) for zone in "ab"))
    state, now, launched, calls = State(), NOW, [], 0
    while now < NOW + hours * HOUR:
        wanted = job(1, "g-1", "g-2", started=now - 5)
        decision = decide(at(slurm(wanted), now), ec2(at=now), state, policy, now)
        launch = only_launch(decision)
        while launch.offering.zone == "a":
            calls += 1
            state = end(decision, launch, NO_CAPACITY, policy, now)
            decision = decide(at(slurm(wanted), now), ec2(at=now), state, policy, now)
            launch = only_launch(decision)
        launched.append(launch.offering.zone)
        # The job has run in zone b, and its instances have ended.
        state = replace(decision.state, attempts={}, holds={})
        now += 300
    return launched, calls


def test_a_spot_zone_that_has_refused_is_not_asked_again_while_another_one_has_capacity():
    assert first_zones("spot", 1) == (["b"] * 12, 1)
    on_demand, calls = first_zones("on-demand", 1)
    assert on_demand == ["b"] * 12 and calls == 5


def test_a_spot_zone_is_the_first_again_an_hour_after_the_end_of_its_refusal():
    policy = site(SPOT)
    wanted = job(1, "g-1", "g-2")
    decision = decide(slurm(wanted), ec2(), policy=policy)
    state = end(decision, only_launch(decision), NO_CAPACITY, policy)
    state = replace(state, attempts={}, holds={})
    for seconds, zone in ((200.0, "b"), (HOUR, "b"), (2 * HOUR, "b"), (2 * HOUR + 15, "a")):
        now = NOW + seconds
        later = decide(at(slurm(replace(wanted, started=now - 5)), now), ec2(at=now), state, policy, now)
        assert only_launch(later).offering.zone == zone, seconds
        state = replace(later.state, attempts={}, holds={})


def test_a_zone_without_capacity_is_used_when_the_others_have_none_either():
    state = State(insufficient_capacity={"p5/a/spot": refused(3)} | {
        f"p5/{zone}/spot": replace(refused(), until=NOW + 60) for zone in "bc"
    })  # fmt: skip
    assert only_launch(decide(slurm(job(1, "g-1", "g-2")), ec2(), state, site(SPOT))).offering.zone == "a"


NOTICE = "landbridge: SPOT EC2 takes the instance at 12:00:00 UTC"


@pytest.mark.parametrize(
    ("reason", "market", "zone"),
    [
        (NOTICE, "spot", "b"),
        ("landbridge: SPOT EC2 recommends to leave the instance", "spot", "b"),
        (NOTICE, "on-demand", "a"),
        ("landbridge:gpu:7 of 8 are there; do: reboot", "spot", "a"),
        ("ann looks at landbridge: SPOT", "spot", "a"),
    ],
)
def test_a_zone_in_which_ec2_interrupts_an_instance_goes_behind_the_others(reason, market, zone):
    leaving = SlurmNode("g-1", frozenset({"MIXED", "CLOUD", "DRAIN", "POWER_DOWN"}), reason)
    view = slurm(job(1, "g-1", state="RUNNING"), job(2, "g-2", "g-3"), nodes=[leaving])
    decision = decide(view, ec2(instance("i-1", "g-1", market=market)), policy=site((*SPOT, offering("a"))))
    assert only_launch(decision).offering.key == f"p5/{zone}/spot"


def test_an_interruption_is_recorded_once_and_forgotten_an_hour_after_the_instance():
    leaving = SlurmNode("g-1", frozenset({"MIXED", "CLOUD", "DRAIN", "POWER_DOWN"}), NOTICE)
    running = slurm(job(1, "g-1", state="RUNNING", minutes=None), nodes=[leaving])
    state, policy = State(), site(SPOT)
    for seconds in (0, 15, 300, 660, 675):
        now = NOW + seconds
        item = instance("i-1", "g-1", market="spot", lease=now + 9000)
        state = decide(at(running, now), ec2(item, at=now), state, policy, now).state
        (record,) = state.insufficient_capacity.values()
        assert (record.tries, record.until) == (1, NOW if seconds < 600 else NOW + 660)
    later = NOW + 660 + HOUR
    assert decide(slurm(at=later - 1), ec2(at=later - 1), state, policy, later - 1).state.insufficient_capacity
    assert not decide(slurm(at=later), ec2(at=later), state, policy, later).state.insufficient_capacity


def test_the_reason_is_that_of_the_nodes_agent():
    source = (
        Path(__file__).resolve().parents[5] / "ansible/roles/cloud_agent/files/landbridge-cloud-agent"
    ).read_text()
    reasons = re.findall(r'"drain", "drain:\w+", text=f?"([^"]+)"', source)
    assert len(reasons) == 2 and all(reason.startswith(SPOT_REASON) for reason in reasons)
