"""Nodes that their health checks have drained: which are terminated, when, and what happens to their jobs."""

from dataclasses import replace

import pytest

from landbridge.burst.model import Down, SlurmNode
from tests.unit.burst.reconcile.instances.test_garbage_collection import decisions_at, ended
from tests.unit.burst.situations import NOW, RISING, decide, ec2, instance, job, of, only_launch, slurm

DEAD = "landbridge:gpu:7 of 8 are there; do: reboot"
UNMOUNTED = "landbridge:mount:/home does not answer; do: inspect"


@pytest.mark.parametrize(
    ("reason", "seconds"),
    [
        (DEAD, 0.0),
        ("landbridge:xid:79 at 0000:1b:00; do: reboot (and 1 more)", 0.0),
        ("landbridge:ecc:GPU 0 at 0000:1b:00.0 has 3 uncorrected errors since its reset; do: reset", 0.0),
        ("landbridge:memory:GPU 0 has 40000 of 81559 MiB; do: repair", 0.0),
        # A fault that is perhaps outside of the machine: it may end, and then the node is resumed.
        (UNMOUNTED, 120.0),
        ("Prolog error", 120.0),
        # Changed by an operator, who examines the node.
        ("ann keeps it, landbridge:gpu:7 of 8 are there; do: reboot", None),
        ("landbridge gpu replaced? ask ann", None),
    ],
)
def test_an_idle_node_with_a_fault_of_its_machine_is_terminated_at_once(reason, seconds):
    view = slurm(nodes=[SlurmNode("g-1", frozenset({"IDLE", "CLOUD", "DRAIN"}), reason)])
    times = (NOW, NOW + 30, NOW + 110, NOW + 121, NOW + 3600)
    replaced = [
        now - NOW
        for now, decision in zip(times, decisions_at(view, ec2(instance("i-1", "g-1")), times), strict=True)
        if of(decision, Down) and ended(decision) == {"i-1"}
    ]
    expected = None if seconds is None else min(now - NOW for now in times if now - NOW >= seconds)
    assert next(iter(replaced), None) == expected


@pytest.mark.parametrize("words", [("ALLOCATED", "CLOUD", "DRAIN"), (*RISING, "DRAIN")])
def test_a_job_that_waits_for_other_nodes_leaves_an_unhealthy_one_and_is_requeued(words):
    sick = SlurmNode("g-1", frozenset(words), DEAD)
    view = slurm(job(1, "g-1", "g-2"), nodes=[sick])
    decision = decide(view, ec2(instance("i-1", "g-1"), instance("i-2", "g-2")))
    (down,) = of(decision, Down)
    assert (down.nodes, down.code, down.text) == (("g-1",), "UNHEALTHY", "gpu:7 of 8 are there; do: reboot")
    assert ended(decision) == {"i-1"} and decision.state.backoffs[1].code == "UNHEALTHY"


def test_the_requeued_job_gets_another_instance_for_the_node_that_was_unhealthy():
    sick = SlurmNode("g-1", frozenset({"IDLE", "CLOUD", "DRAIN"}), DEAD)
    first = decide(slurm(nodes=[sick]), ec2(instance("i-1", "g-1")))
    assert ended(first) == {"i-1"}
    later = NOW + 90
    ending = instance("i-1", "g-1", state="shutting-down")
    again = decide(slurm(job(2, "g-1", started=later - 1), at=later), ec2(ending, at=later), first.state, now=later)
    assert only_launch(again).gang.nodes == ("g-1",)


@pytest.mark.parametrize("reason", [DEAD, UNMOUNTED])
def test_a_running_job_keeps_an_unhealthy_node_until_it_ends(reason):
    sick = SlurmNode("g-1", frozenset({"ALLOCATED", "CLOUD", "DRAIN"}), reason)
    busy = slurm(job(1, "g-1", state="RUNNING", minutes=None), nodes=[sick])
    *_, last = decisions_at(busy, ec2(instance("i-1", "g-1")), (NOW, NOW + 300, NOW + 3600))
    assert not of(last, Down) and not ended(last)
    idle = slurm(nodes=[replace(sick, states=frozenset({"IDLE", "CLOUD", "DRAIN"}))], at=NOW + 3601)
    after = decide(idle, ec2(instance("i-1", "g-1"), at=NOW + 3601), last.state, now=NOW + 3601)
    assert bool(of(after, Down)) == (reason == DEAD)
