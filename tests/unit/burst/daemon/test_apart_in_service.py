"""A job that Slurm places on idle nodes of two zones: the real programs and the daemon move it before it starts."""
# ruff: noqa: F811 - fixtures are imported

from collections.abc import Callable

import pytest

from landbridge.burst.journal.store import Store
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.embedded.slurm import SimulatedSlurm
from tests.unit.aws_emulator.conftest import ZONES
from tests.unit.burst.service import emulator, instances, records, slurm_folder, start, submit  # noqa: F401

FIRST = f"p5.48xlarge/{ZONES[0]}"


def zones(slurm: SimulatedSlurm, nodes: tuple[str, ...]) -> list[str]:
    """Return the zones of the latest launches of the nodes."""
    attempts = sorted(Store(slurm.directory / "burst.db").load().attempts.values(), key=lambda a: a.created_at)
    by_node = {node: attempt.offering.split("/")[1] for attempt in attempts for node in attempt.instances}
    return [by_node[node] for node in nodes]


def start_idle(slurm: SimulatedSlurm, *names: str) -> None:
    slurm.power_up(names)
    slurm.wait_for(lambda: all(slurm.nodes[name].up for name in names), f"{names} are not up")


@pytest.mark.slow
def test_a_job_on_idle_nodes_of_two_zones_starts_in_one(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start(suspend_time=600.0)
    cloud.control(pool={FIRST: 1})
    start_idle(slurm, "p5-1")
    start_idle(slurm, "p5-2", "p5-3")
    assert zones(slurm, ("p5-1", "p5-2", "p5-3")) == [ZONES[0], ZONES[1], ZONES[1]]
    cloud.control(pool={FIRST: 100})
    job = slurm.wait(submit(slurm, nodes=2, script="echo started"))
    assert (job.state, job.restarts, job.nodes) == ("COMPLETED", 1, ("p5-2", "p5-3"))
    assert zones(slurm, job.nodes) == [ZONES[1], ZONES[1]] and job.output(rank=0).split() == ["started"]
    (down,) = records(slurm, "down", job)
    assert (down.code, down.nodes) == ("APART", ("p5-1",))
    # Only a pending job gets the reason: on a busy machine this one can start before the controller's next pass.
    assert not job.admin_comment or "landbridge: APART" in job.admin_comment
