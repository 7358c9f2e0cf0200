"""Failing instances that are an earlier one of their node: EC2 has refused to terminate them."""

from dataclasses import replace

import pytest

from landbridge.burst.model import CloudInstance, Down, PowerDown, SlurmNode, TerminationRefusal
from tests.unit.burst.reconcile.instances.test_instance_status import POLICY, READ, RETIREMENT, decided, known
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    NOW,
    decide,
    ec2,
    end,
    instance,
    job,
    of,
    only_launch,
    slurm,
    success,
)


def test_the_reason_of_the_newest_instance_of_a_node_counts() -> None:
    cloud: list[CloudInstance] = [instance("i-1", "g-1", launched=NOW - 500), instance("i-2", "g-1", launched=NOW - 2)]
    nodes = [SlurmNode("g-1", frozenset(IDLE), address="10.0.0.2")]
    assert not of(decide(slurm(nodes=nodes), ec2(*cloud), known(RETIREMENT), POLICY), PowerDown)


def test_an_event_of_an_earlier_instance_is_no_reason_to_leave_an_instance_that_ec2_does_not_show_yet() -> None:
    """EC2 has refused to terminate the earlier instance; the node has registered with a later one."""
    view = slurm(job(7, "g-1"))
    first = decide(view, ec2(), policy=POLICY)
    launch = only_launch(first)
    state = end(first, launch, success(launch, 2), POLICY)
    state = replace(
        state,
        instance_statuses={"i-1": replace(RETIREMENT, event_at=NOW + 300)},
        status_reads={"": READ},
        termination_refusals={"i-1": TerminationRefusal("OperationNotPermitted", "x", NOW - 60, NOW + 540)},
    )
    nodes = [SlurmNode("g-1", frozenset(BUSY), address="10.1.0.2")]
    running_job = job(7, "g-1", state="RUNNING", minutes=600)
    cloud = ec2(instance("i-1", "g-1", launched=NOW - 500))
    decision = decide(slurm(running_job, nodes=nodes), cloud, state, POLICY)
    assert not of(decision, Down) and not of(decision, PowerDown)


@pytest.mark.parametrize(("address", "leaves"), [("", True), ("g-1", True), ("10.0.0.1", True), ("10.1.0.2", False)])
def test_a_failing_instance_at_another_address_than_its_nodes_is_an_earlier_one(address: str, leaves: bool) -> None:
    """The journal, which knew of the later instance, is lost, and EC2 does not show it yet."""
    nodes = [SlurmNode("g-1", frozenset(BUSY), address=address)]
    view = slurm(job(7, "g-1", state="RUNNING", minutes=600), nodes=nodes)
    decision = decided(view, replace(RETIREMENT, event_at=NOW + 300))
    assert bool(of(decision, Down)) is leaves and not of(decision, PowerDown)
