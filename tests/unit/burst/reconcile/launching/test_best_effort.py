"""Launches of independent nodes take the part that EC2 gives, and the rest goes to the next offering; gangs stay whole."""

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.burst.aws.launch_call import launch_call
from landbridge.burst.model import ActionOutcome, Launch, State
from landbridge.burst.reconcile.core import reconcile
from landbridge.burst.reconcile.outcome_state import apply_outcome
from tests.thorough import examples
from tests.unit.burst.situations import NOW, ec2, job, launched, of, offering, site, slurm

ZONES = "abc"


@dataclass
class Zones:
    """EC2 with room for a number of instances in each zone, which answers RunInstances as MinCount and MaxCount say."""

    room: dict[str, int]
    nodes: dict[str, str] = field(default_factory=dict)  # node -> zone
    instances: list = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)

    def run(self, launch: Launch) -> ActionOutcome:
        (attempt,) = launch.attempts
        call = launch_call(attempt, launch.offering, launch.tags, launch.gang.all_or_nothing)
        zone = launch.offering.zone
        self.calls[zone] += 1
        count = min(call["MaxCount"], self.room[zone])
        if count < call["MinCount"]:
            return ActionOutcome("InsufficientInstanceCapacity", "none")
        self.room[zone] -= count
        given_nodes = attempt.nodes[:count]
        first = len(self.nodes) + 1
        outcome = ActionOutcome(
            instances={node: f"i-{first + n}" for n, node in enumerate(given_nodes)},
            addresses={node: f"10.1.0.{first + n}" for n, node in enumerate(given_nodes)},
        )
        self.nodes |= dict.fromkeys(given_nodes, zone)
        self.instances += launched(launch, outcome)
        return outcome


def settle(zones: Zones, *jobs) -> State:
    """Make the rounds of one pass until nothing more is launched, as daemon/passes.py does."""
    policy, state = site(tuple(offering(zone) for zone in ZONES)), State()
    for _ in range(8):
        decision = reconcile(slurm(*jobs), ec2(*zones.instances), state, policy, NOW)
        state = decision.state
        launches = of(decision, Launch)
        for launch in launches:
            state = apply_outcome(state, launch, zones.run(launch), policy, NOW)
        if not launches:
            return state
    raise AssertionError("the pass does not end")


def test_an_array_takes_what_each_zone_has_with_one_call_for_each():
    zones = Zones({"a": 2, "b": 1, "c": 8})
    state = settle(zones, *(job(n, f"g-{n}", array_job=9, array_task=n) for n in range(1, 7)))
    assert Counter(zones.nodes.values()) == {"a": 2, "b": 1, "c": 3} and zones.calls == {"a": 1, "b": 1, "c": 1}
    assert state.insufficient_capacity.keys() == {"p5/a/on-demand", "p5/b/on-demand"} and not state.backoffs


def test_only_the_tasks_beyond_all_capacity_are_refused():
    zones = Zones({"a": 1, "b": 1, "c": 0})
    state = settle(zones, *(job(n, f"g-{n}") for n in range(1, 5)))
    assert len(zones.nodes) == 2
    assert {number: backoff.code for number, backoff in state.backoffs.items()} == {3: "CAPACITY", 4: "CAPACITY"}


@settings(deadline=None, max_examples=examples(20, 2_000))
@given(
    st.fixed_dictionaries({zone: st.integers(0, 5) for zone in ZONES}),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
def test_no_capacity_is_left_beside_a_refused_single_node_and_no_gang_has_a_part(room, sizes):
    zones, names, jobs = Zones(dict(room)), iter(range(1, 99)), []
    for number, size in enumerate(sizes, 1):
        nodes = [f"g-{next(names)}" for _ in range(size)]
        if all(int(name[2:]) <= 8 for name in nodes):
            jobs.append(job(number, *nodes))
    state = settle(zones, *jobs)
    for member in jobs:
        places = [zones.nodes[node] for node in member.nodes if node in zones.nodes]
        if len(member.nodes) > 1:
            assert len(places) in (0, len(member.nodes)) and len(set(places)) <= 1
        assert bool(places) != (member.id in state.backoffs)
    if any(len(member.nodes) == 1 and member.id in state.backoffs for member in jobs):
        assert not any(zones.room.values())
