"""Reads of the network nodes of new instances: which instances, how often, and what the journal records."""

from dataclasses import replace
from typing import Any

import pytest

from landbridge.burst.daemon.outcomes import outcome_records
from landbridge.burst.model import AccountPolicy, ActionOutcome, CloudInstance, PoolPolicy, RecordTopology, State
from tests.unit.burst.situations import NOW, decide, ec2, end, instance, job, of, offering, site, slurm

KNOWN = (offering("a", topology=True), offering("a", "m7i"))
POLICY = site(KNOWN)
VIEW = slurm(job(1, "g-1", "g-2"))
BOTH = {"g-1": "i-1", "g-2": "i-2"}
JOBS = {"g-1": (1,), "g-2": (1,)}


def reads(*instances: CloudInstance, state: State | None = None, **changes: Any) -> list[RecordTopology]:
    return of(decide(VIEW, ec2(*instances), state, **{"policy": POLICY, **changes}), RecordTopology)


def pair(**fields: Any) -> tuple[CloudInstance, CloudInstance]:
    return instance("i-1", "g-1", jobs=(1,), **fields), instance("i-2", "g-2", jobs=(1,), **fields)


def test_the_topology_of_all_running_instances_is_read_in_one_action() -> None:
    assert reads(*pair()) == [RecordTopology(BOTH, JOBS)]


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "pending"},
        {"type": "m7i"},
        {"launched": NOW - 601},
    ],
    ids=["not running", "type without topology", "older than ResumeTimeout"],
)
def test_the_topology_of_other_instances_is_not_read(fields: dict[str, Any]) -> None:
    assert reads(*pair(**fields)) == []


def test_the_topology_of_a_pool_with_one_node_is_not_read() -> None:
    alone = replace(POLICY, pools={**POLICY.pools, "gpu": PoolPolicy("gpu", "g-", 1, KNOWN)})
    view = slurm(job(1, "g-1"))
    assert of(decide(view, ec2(pair()[0]), policy=alone), RecordTopology) == []


def test_each_region_is_read_in_its_own_action() -> None:
    near, far = pair()
    policy = replace(POLICY, accounts={"lab": AccountPolicy("lab", "internal", True, regions=("eu",))})
    actions = reads(near, replace(far, region="eu"), policy=policy)
    assert actions == [RecordTopology({"g-1": "i-1"}, {"g-1": (1,)}), RecordTopology({"g-2": "i-2"}, {"g-2": (1,)})]


def outcome_state(outcome: ActionOutcome) -> State:
    decision = decide(VIEW, ec2(*pair()), policy=POLICY)
    return end(decision, RecordTopology(BOTH), outcome, POLICY)


@pytest.mark.parametrize(
    ("outcome", "repeated"),
    [
        (ActionOutcome(instances=BOTH, network_paths={"g-1": "nn-1", "g-2": "nn-1"}), {}),
        (ActionOutcome(instances={"g-1": "i-1"}, network_paths={"g-1": "nn-1"}), {"g-2": "i-2"}),
        (ActionOutcome("RequestLimitExceeded"), BOTH),
        (ActionOutcome("UnauthorizedOperation", instances=BOTH), {}),
    ],
    ids=["all", "a part", "throttled", "refused"],
)
def test_an_instance_is_read_once(outcome: ActionOutcome, repeated: dict[str, str]) -> None:
    state = outcome_state(outcome)
    assert [dict(action.instances) for action in reads(*pair(), state=state)] == ([repeated] if repeated else [])


def test_the_next_instance_of_a_node_is_read_again() -> None:
    state = outcome_state(ActionOutcome(instances=BOTH, network_paths={"g-1": "nn-1", "g-2": "nn-1"}))
    renewed = instance("i-3", "g-1", jobs=(1,))
    decision = decide(VIEW, ec2(renewed, pair()[1]), state, policy=POLICY)
    assert of(decision, RecordTopology) == [RecordTopology({"g-1": "i-3"}, {"g-1": (1,)})]
    assert decision.state.topology_read == {"g-2": "i-2"}


def test_what_was_read_is_remembered_while_ec2_does_not_answer() -> None:
    state = outcome_state(ActionOutcome(instances=BOTH))
    assert decide(VIEW, None, state, policy=POLICY).state.topology_read == BOTH
    assert decide(slurm(), ec2(), state, policy=POLICY).state.topology_read == {}


def test_each_job_has_a_record_of_how_far_its_nodes_are_apart() -> None:
    jobs = {"g-1": (1,), "g-2": (1,), "g-3": (1,), "g-4": (2,)}
    paths = {"g-1": "nn-1/nn-2/nn-4", "g-2": "nn-1/nn-2/nn-4", "g-3": "nn-1/nn-3/nn-5", "g-4": "nn-1"}
    action = RecordTopology({node: f"i-{node}" for node in paths}, jobs)
    first, second = outcome_records(action, ActionOutcome(network_paths=paths), NOW)
    assert (first.event, first.jobs, first.nodes) == ("topology", (1,), ("g-1", "g-2", "g-3"))
    assert first.text == "3 nodes; network nodes by layer, from the top: 1, 2, 2"
    assert first.details["network_paths"] == {"nn-1/nn-2/nn-4": "g-[1-2]", "nn-1/nn-3/nn-5": "g-3"}
    assert (second.jobs, second.nodes) == ((2,), ("g-4",))
    assert outcome_records(RecordTopology(BOTH), ActionOutcome(), NOW) == ()
