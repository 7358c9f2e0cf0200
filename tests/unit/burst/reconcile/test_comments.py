"""Comments of refused jobs: their order, their number in a pass, and the jobs that Slurm ends instead of requeueing."""

import pytest

from landbridge.burst.model import (
    ActionOutcome,
    Backoff,
    CommentJobs,
    Down,
    JobComment,
    Renew,
    SlurmJob,
    SlurmNode,
    SlurmView,
    State,
)
from landbridge.burst.reconcile.core import MAX_COMMENT_COMMANDS, MAX_COMMENTED_JOBS, reconcile
from tests.unit.burst.situations import BUSY, NOW, OFF, decide, ec2, end, events, instance, job, of, site, slurm

REFUSED = Backoff(NOW + 60, 1, "CAPACITY", "none")


def refused(count: int, text: str = "none") -> tuple[SlurmView, State]:
    """Return `count` pending jobs that were refused and have no comment."""
    backoffs = {number: Backoff(NOW + 60, 1, "BUDGET", text.format(number)) for number in range(1, count + 1)}
    jobs = {number: job(number, state="PENDING", started=None) for number in backoffs}
    nodes = {f"g-{number}": SlurmNode(f"g-{number}", frozenset(OFF)) for number in range(1, 9)}
    return SlurmView(NOW, jobs, nodes), State(backoffs=backoffs)


def commented(state: State) -> set[int]:
    return {number for number, backoff in state.backoffs.items() if backoff.reported}


def test_renewals_come_before_comments() -> None:
    view = slurm(job(1, "g-1", state="RUNNING"), job(2, state="PENDING", started=None))
    running = instance("i-1", "g-1", lease=NOW + 30, jobs=(1,))
    decision = decide(view, ec2(running), State(backoffs={2: REFUSED}))
    kinds = [type(action) for action in decision.actions]
    assert kinds.index(Renew) < kinds.index(CommentJobs)


def test_an_arrays_task_is_commented_by_its_own_id() -> None:
    last = job(4, state="PENDING", started=None, array_job=4, array_task=2)
    (action,) = of(decide(slurm(last), ec2(), State(backoffs={4: REFUSED})), CommentJobs)
    assert [(comment.job, comment.slurm_id) for comment in action.comments] == [(4, "4_2")]


def test_comments_of_many_jobs_are_one_action_and_are_bounded() -> None:
    count = 4 * MAX_COMMENTED_JOBS
    view, state = refused(count)
    for number in range(1, 5):
        decision = reconcile(view, ec2(), state, site(), NOW)
        (action,) = of(decision, CommentJobs)
        assert len(action.comments) == MAX_COMMENTED_JOBS
        assert (decision.next_pass is not None and decision.next_pass <= NOW + 5) is (number < 4)
        state = end(decision, action, ActionOutcome(jobs=frozenset(comment.job for comment in action.comments)))
    assert commented(state) == set(range(1, count + 1))
    assert not of(reconcile(view, ec2(), state, site(), NOW), CommentJobs)


def test_comments_with_different_texts_are_bounded_by_their_commands() -> None:
    view, state = refused(2 * MAX_COMMENT_COMMANDS, "{} USD")
    decision = reconcile(view, ec2(), state, site(), NOW)
    (action,) = of(decision, CommentJobs)
    assert len(action.comments) == MAX_COMMENT_COMMANDS and decision.next_pass is not None


def test_jobs_whose_comment_failed_are_commented_by_the_next_pass() -> None:
    view, state = refused(3)
    decision = reconcile(view, ec2(), state, site(), NOW)
    (action,) = of(decision, CommentJobs)
    state = end(decision, action, ActionOutcome("SLURM", "Invalid job id specified for job 2", jobs=frozenset({1, 3})))
    (again,) = of(reconcile(view, ec2(), state, site(), NOW), CommentJobs)
    assert again.comments == (JobComment(2, "2", action.comments[1].text, NOW + 60),)


@pytest.mark.parametrize("state", ["CONFIGURING", "RUNNING"])
@pytest.mark.parametrize(
    ("fields", "ends"),
    [({}, False), ({"is_batch": False}, True), ({"is_batch": False, "may_requeue": False}, True), ({"may_requeue": False}, True)],
)  # fmt: skip
def test_jobs_that_slurm_does_not_requeue_are_named_with_their_nodes(
    state: str, fields: dict[str, bool], ends: bool
) -> None:
    ward = job(1, "g-1", "g-2", state=state, account="ward", **fields)
    other = job(2, "g-3", state="RUNNING")
    instances = (instance(f"i-{node}", node, account="ward") for node in ward.nodes)
    decision = decide(slurm(ward, other), ec2(*instances), State())
    (down,) = [down for down in of(decision, Down) if down.code == "RESIDENCY"]
    assert set(down.nodes) == {"g-1", "g-2"}
    assert [ended.id for ended in down.ended_jobs] == ([1] if ends else [])
    assert [record.jobs for record in events(decision, "job-ends")] == ([(1,)] if ends else [])


def test_a_job_that_completes_is_not_ended_by_its_node() -> None:
    completing = SlurmJob(1, "COMPLETING", ("g-1",), "gpu", "ward", is_batch=False, started=NOW - 60)
    decision = decide(slurm(completing, states={"g-1": BUSY}), ec2(), State())
    assert all(not down.ended_jobs for down in of(decision, Down))
