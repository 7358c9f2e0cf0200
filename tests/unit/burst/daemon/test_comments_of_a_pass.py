"""Comments of refused jobs in a whole pass, with a real journal and a simulated Slurm; the end of jobs with their nodes."""

import json
import os
import sys
from pathlib import Path

import pytest

from landbridge.burst.daemon.execute import SLURM_FAILED, perform
from landbridge.burst.daemon.outcomes import outcome_records
from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.journal.store import Store
from landbridge.burst.model import Backoff, CommentJobs, Down, JobComment, SlurmJob, State
from landbridge.burst.slurm import slurm
from tests.unit.burst.situations import site
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.world import World

JOBS = 300
NEVER = 1e12


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a world in which `JOBS` jobs were refused and have no comment."""
    world = World(site(), one_pass, tmp_path)
    for _ in range(JOBS):
        world.slurm.submit(SimJob(world.job_id(), "gpu", 1, "lab", 60, 60.0, comment="mine", not_before=NEVER))
    backoffs = {job: Backoff(world.clock.now + 600, 1, "CAPACITY", "none") for job in world.slurm.jobs}
    world.journal.keeper.save(State(), State(backoffs=backoffs))
    return world


def test_the_journal_is_written_once_for_all_comments(world: World) -> None:
    store = world.journal.keeper
    assert isinstance(store, Store)
    before = store.saves
    assert world.a_pass()
    assert all(job.admin_comment.startswith("landbridge: CAPACITY") for job in world.slurm.jobs.values())
    assert {job.comment for job in world.slurm.jobs.values()} == {"mine"}
    # Also the clock of the first pass.
    assert store.saves - before == 2 and all(backoff.reported for backoff in store.load().backoffs.values())
    assert world.a_pass() and store.saves - before == 2


def test_a_job_that_started_again_meanwhile_does_not_keep_the_others_from_their_comments(world: World) -> None:
    state, cancelled_job = world.journal.keeper.load(), 101
    cancelled = CommentJobs(
        tuple(JobComment(job, str(job), "landbridge: CAPACITY none", None) for job in state.backoffs)
    )
    world.slurm.cancel(cancelled_job)
    outcome = perform(cancelled, world.ec2, world.slurm)
    assert outcome.code == SLURM_FAILED and outcome.jobs == state.backoffs.keys() - {cancelled_job}
    (record,) = outcome_records(cancelled, outcome, 5.0)
    assert (record.event, record.jobs) == ("failed", (cancelled_job,))


@pytest.mark.parametrize("is_notified", [True, False])
def test_jobs_learn_the_reason_before_their_nodes_go_down(
    is_notified: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    program, log = tmp_path / "scontrol", tmp_path / "log"
    program.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"with open({str(log)!r}, 'a') as file: print(json.dumps(sys.argv[1:]), file=file)\n"
        f"if 'notify' in sys.argv and not {is_notified}: sys.exit('Job/step already completing or completed')\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    ended = (
        SlurmJob(7, "CONFIGURING", ("g-1",), is_batch=False),
        SlurmJob(8, "CONFIGURING", ("g-1",), may_requeue=False),
    )
    outcome = perform(Down(("g-1",), "CAPACITY", "none left", ended), world.ec2, slurm)
    commands = [json.loads(line) for line in log.read_text().splitlines()]
    text = "landbridge: CAPACITY none left; the job ends, because Slurm requeues only batch jobs without --no-requeue"
    assert commands == [
        ["update", "jobid=7,8", f"admincomment={text}"],
        ["notify", "7", text],
        ["update", "nodename=g-1", "state=down", "reason=landbridge: CAPACITY none left"],
        ["update", "nodename=g-1", "state=power_down_force", "reason=landbridge: CAPACITY none left"],
    ]
    assert outcome.code == ("" if is_notified else SLURM_FAILED)
