"""Minimum number of running nodes: how many and which nodes are powered up, and when none is."""

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


def policy(min_nodes: int, *offerings: Offering, **settings: Any) -> BurstPolicy:
    pool = PoolPolicy("p5", "p5-", 12, offerings or (OFFERING,), min_nodes=min_nodes)
    return BurstPolicy(cluster="test", region="us-east-1", pools={"p5": pool}, accounts={}, **settings)


def started(
    states: Iterable[set[str]],
    burst_policy: BurstPolicy,
    state: State | None = None,
    now: float = NOW,
    blind: bool = False,
) -> tuple[tuple[str, ...], State, float | None]:
    """Return the nodes that are powered up, the journal state afterwards, and the time of the next pass."""
    nodes = {f"p5-{n}": SlurmNode(f"p5-{n}", frozenset(words)) for n, words in enumerate(states, 1)}
    view = None if blind else Ec2View(now, ())
    decision = reconcile(SlurmView(now, {}, nodes), view, state or State(), burst_policy, now)
    names = tuple(name for action in decision.actions if isinstance(action, PowerUp) for name in action.nodes)
    return names, decision.state, decision.next_pass


def test_missing_nodes_are_powered_up_lowest_number_first() -> None:
    assert started([UP, OFF, OFF, RISING, *([OFF] * 8)], policy(4))[0] == ("p5-2", "p5-3")
    assert started([OFF] * 12, policy(12))[0] == tuple(f"p5-{n}" for n in range(1, 13))
    assert started([OFF] * 4, policy(0))[0] == ()


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([OFF, UP, RISING, {"DOWN", "CLOUD"}, OFF | {"DRAIN"}]), max_size=12), st.integers(0, 12)
)
def test_no_more_than_min_nodes_and_no_node_out_of_service_are_powered_up(
    states: list[set[str]], min_nodes: int
) -> None:
    names, _, _ = started(states, policy(min_nodes))
    running = sum(words in (UP, RISING) for words in states)
    assert len(names) == min(max(0, min_nodes - running), sum(words == OFF for words in states))
    assert all(states[int(name.removeprefix("p5-")) - 1] == OFF for name in names)


def test_a_node_that_powers_down_does_not_count() -> None:
    assert started([UP | {"POWER_DOWN"}, OFF], policy(1))[0] == ("p5-2",)
    assert started([OFF | {"POWER_UP"}, OFF], policy(1))[0] == (), (
        "the node was requested and Slurm has not started it yet"
    )


def test_missing_nodes_are_requested_once_per_retry_interval() -> None:
    names, after, _ = started([OFF] * 3, policy(2))
    assert len(names) == 2
    repeated, after_retry, due = started([OFF] * 3, policy(2), after, NOW + 30)
    assert repeated == () and due == NOW + MIN_NODES_RETRY_SECONDS
    assert len(started([OFF] * 3, policy(2), after_retry, NOW + MIN_NODES_RETRY_SECONDS + 1)[0]) == 2


def test_no_node_is_powered_up_that_cannot_be_launched() -> None:
    assert started([OFF] * 3, policy(2), blind=True)[0] == ()
    dry = State(insufficient_capacity={OFFERING.key: InsufficientCapacity(NOW + 60, 1, "InsufficientInstanceCapacity")})
    assert started([OFF] * 3, policy(2), dry)[0] == ()
    assert started([OFF] * 3, policy(2), State(drained={"p5": "because"}))[0] == ()
    broken = State(breakers={"p5": CircuitBreaker("UnauthorizedOperation", "", NOW, 1, NOW + 60)})
    assert started([OFF] * 3, policy(2), broken)[0] == ()
    assert started([OFF] * 3, policy(2, monthly_usd=1.0, hard=True))[0] == ()


def test_nodes_of_a_capacity_block_are_powered_up_when_it_opens_up_to_its_size() -> None:
    block = replace(
        OFFERING, kind="capacity_block", market="capacity-block", opens=NOW + 600, closes=NOW + 86_400, size=3
    )
    names, _, due = started([OFF] * 6, policy(6, block))
    assert names == () and due == NOW + 600
    assert len(started([OFF] * 6, policy(6, block), now=NOW + 600)[0]) == 3
    assert started([OFF] * 6, policy(6, block), now=NOW + 86_400)[0] == ()
