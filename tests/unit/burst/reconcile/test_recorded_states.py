"""Decisions about recorded states of nodes: a reservation, reboot or drain by an operator ends no instance and no job."""

from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.model import Down, Launch, SlurmNode, SlurmView, State, Terminate
from landbridge.burst.reconcile.node_states import is_powered_down, is_powering_up
from landbridge.burst.slurm.slurm_text import node_states_of
from tests.unit.burst.situations import NOW, decide, ec2, instance, job, of, site

MOMENTS = sorted((Path(__file__).parents[1] / "data").glob("*/*.sinfo.txt"))
POLICY = site(pools={"gpu": replace(site().pools["gpu"], node_prefix="p5-")})


def recorded_nodes(path: Path) -> dict[str, SlurmNode]:
    """Return the nodes; scontrol, which has the reasons, is not recorded."""
    return {
        name: SlurmNode(name, states, "ann examines" if states & {"DOWN", "DRAIN", "FAIL"} else "")
        for name, states in node_states_of(path.read_text()).items()
    }


@pytest.mark.parametrize("path", MOMENTS, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_nodes_and_instances_that_belong_together_are_kept(path: Path) -> None:
    nodes = recorded_nodes(path)
    assert {"DOWN", "IDLE", "ALLOCATED", "MIXED"} & frozenset.union(*(node.states for node in nodes.values()))
    jobs = {
        number: job(number, name, state="CONFIGURING" if is_powering_up(node) else "RUNNING", minutes=600)
        for number, (name, node) in enumerate(sorted(nodes.items()), 1)
        if node.states & {"ALLOCATED", "MIXED"}
    }
    instances = [
        instance(f"i-{number}", name, address=f"10.0.0.{number}", lease=NOW + 36000)
        for number, (name, node) in enumerate(sorted(nodes.items()), 1)
        if not is_powered_down(node)
    ]
    state = State()
    for seconds in range(0, 540, 30):
        view = SlurmView(NOW + seconds, jobs, nodes)
        decision = decide(view, ec2(*instances, at=NOW + seconds), state, POLICY, NOW + seconds)
        state = decision.state
        assert not [action for kind in (Down, Terminate, Launch) for action in of(decision, kind)], seconds
