"""Nodes that are kept running: how many, which, and when nobody is asked for them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.burst.model import (
    BurstPolicy,
    CircuitBreaker,
    Ec2View,
    InsufficientCapacity,
    Offering,
    PoolPolicy,
    PowerUp,
    SlurmNode,
    SlurmView,
    State,
)
from landbridge.burst.reconcile.core import reconcile
from landbridge.burst.reconcile.min_nodes import MIN_NODES_RETRY_SECONDS

NOW = 1_800_000_000.0
OFF, UP, RISING = {"IDLE", "CLOUD", "POWERED_DOWN"}, {"IDLE", "CLOUD"}, {"IDLE", "CLOUD", "POWERING_UP"}
OFFERING = Offering(
    key="p5/z/on-demand",
    kind="on_demand",
    instance_type="p5.48xlarge",
    subnet="subnet-1",
    zone="use1-az4",
    market="on-demand",
    launch_template_id="lt-1",
    launch_template_version="1",
    usd_hour=50.0,
)


def policy(kept: int, *offerings: Offering, **more: Any) -> BurstPolicy:
    pool = PoolPolicy("p5", "p5-", 12, offerings or (OFFERING,), min_nodes=kept)
    return BurstPolicy(cluster="test", region="us-east-1", pools={"p5": pool}, accounts={}, **more)


def started(
    states: Iterable[set[str]], rules: BurstPolicy, state: State | None = None, now: float = NOW, blind: bool = False
) -> tuple[tuple[str, ...], State, float | None]:
    """The nodes that are powered up, the journal after it, and when the next pass is due."""
    nodes = {f"p5-{n}": SlurmNode(f"p5-{n}", frozenset(own)) for n, own in enumerate(states, 1)}
    view = None if blind else Ec2View(now, ())
    decision = reconcile(SlurmView(now, {}, nodes), view, state or State(), rules, now)
    names = tuple(name for action in decision.actions if isinstance(action, PowerUp) for name in action.nodes)
    return names, decision.state, decision.next_pass


def test_as_many_as_are_missing_the_lowest_first() -> None:
    assert started([UP, OFF, OFF, RISING, *([OFF] * 8)], policy(4))[0] == ("p5-2", "p5-3")
    assert started([OFF] * 12, policy(12))[0] == tuple(f"p5-{n}" for n in range(1, 13))
    assert started([OFF] * 4, policy(0))[0] == ()


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([OFF, UP, RISING, {"DOWN", "CLOUD"}, OFF | {"DRAIN"}]), max_size=12), st.integers(0, 12)
)
def test_never_more_than_are_kept_and_never_one_that_is_out_of_service(states: list[set[str]], kept: int) -> None:
    names, _, _ = started(states, policy(kept))
    running = sum(own in (UP, RISING) for own in states)
    assert len(names) == min(max(0, kept - running), sum(own == OFF for own in states))
    assert all(states[int(name.removeprefix("p5-")) - 1] == OFF for name in names)


def test_one_that_is_to_leave_does_not_count() -> None:
    assert started([UP | {"POWER_DOWN"}, OFF], policy(1))[0] == ("p5-2",)
    assert started([OFF | {"POWER_UP"}, OFF], policy(1))[0] == (), "it was asked for and Slurm has not begun"


def test_they_are_asked_for_once_in_a_while() -> None:
    names, after, _ = started([OFF] * 3, policy(2))
    assert len(names) == 2
    again, kept, due = started([OFF] * 3, policy(2), after, NOW + 30)
    assert again == () and due == NOW + MIN_NODES_RETRY_SECONDS
    assert len(started([OFF] * 3, policy(2), kept, NOW + MIN_NODES_RETRY_SECONDS + 1)[0]) == 2


def test_nobody_is_asked_for_what_cannot_be_had() -> None:
    assert started([OFF] * 3, policy(2), blind=True)[0] == ()
    dry = State(insufficient_capacity={OFFERING.key: InsufficientCapacity(NOW + 60, 1, "InsufficientInstanceCapacity")})
    assert started([OFF] * 3, policy(2), dry)[0] == ()
    assert started([OFF] * 3, policy(2), State(drained={"p5": "because"}))[0] == ()
    broken = State(breakers={"p5": CircuitBreaker("UnauthorizedOperation", "", NOW, 1, NOW + 60)})
    assert started([OFF] * 3, policy(2), broken)[0] == ()
    assert started([OFF] * 3, policy(2, monthly_usd=1.0, hard=True))[0] == ()


def test_a_block_is_filled_when_it_opens_and_as_far_as_it_goes() -> None:
    block = replace(
        OFFERING, kind="capacity_block", market="capacity-block", opens=NOW + 600, closes=NOW + 86_400, size=3
    )
    names, _, due = started([OFF] * 6, policy(6, block))
    assert names == () and due == NOW + 600
    assert len(started([OFF] * 6, policy(6, block), now=NOW + 600)[0]) == 3
    assert started([OFF] * 6, policy(6, block), now=NOW + 86_400)[0] == ()
