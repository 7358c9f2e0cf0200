"""State machine of the service of pipelines: it is killed at every point, its journal is lost, Slurm answers late or not.

No step has two jobs, none is lost, and every run ends.
"""

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from landbridge.pipelines.runs.record import StepState
from tests.thorough import LONG, examples
from tests.unit.pipelines.pipeline_world import LATEST, World, request

SHAPES = st.sampled_from(
    [
        [{"name": "train"}],
        [{"name": "train"}, {"name": "evaluate", "needs": ["train"]}],
        [
            {"name": "prepare"},
            {"name": "train", "needs": ["prepare"]},
            {"name": "other", "needs": ["prepare"]},
            {
                "name": "evaluate",
                "needs": ["train", "other"],
                "metrics": "m.json",
                "gates": [{"metric": "accuracy", "at_least": 0.5}],
            },
        ],
    ]
)
ANSWERS = st.sampled_from(["ok", "fault", "lost", "late", "killed before", "killed after", "killed late"])


class Pipelines(RuleBasedStateMachine):
    """State machine of runs, faults and persons."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.count = 0
        self.shapes: dict[str, list[dict]] = {}
        self.touched: set[str] = set()  # runs with a job that a person cancelled, or that failed

    @initialize(
        shape=SHAPES,
        lag=st.sampled_from([0.0, 0.0, 40.0, 250.0]),
        delay=st.sampled_from([30.0, 200.0, LATEST]),
        seconds=st.sampled_from([20.0, 100.0, 500.0]),
    )
    def begin(self, shape, lag, delay, seconds):
        self.world.lag, self.world.delay, self.world.seconds = lag, delay, seconds
        self.ask(shape)

    @precondition(lambda self: self.count < 4)
    @rule(shape=SHAPES)
    def ask(self, shape):
        self.count += 1
        self.shapes[self.world.ask(request(shape, key=str(self.count)))] = shape

    @rule(passes=st.integers(1, 8))
    def work(self, passes):
        self.world.run(passes)

    @rule()
    def wait_for_long(self):
        """Make no pass for so long that slurmctld forgets ended jobs."""
        self.world.advance(900.0)
        self.world.a_pass()

    @rule(answers=st.lists(ANSWERS, min_size=1, max_size=4), passes=st.integers(1, 4))
    def sbatch_fails(self, answers, passes):
        self.world.answers.extend(answers)
        self.world.run(passes)

    @rule(calls=st.integers(0, 20))
    def killed(self, calls):
        self.world.point.deadly = calls
        self.world.run(1)
        self.world.point.deadly = None

    @rule(calls=st.integers(0, 12), passes=st.integers(0, 2))
    def lose_the_journal(self, calls, passes):
        self.world.journal.clear()
        self.world.point.deadly = calls
        self.world.run(passes)
        self.world.point.deadly = None

    @rule(passes=st.integers(1, 3))
    def slurm_is_silent(self, passes):
        self.world.squeue_fails = passes
        self.world.run(passes)

    @precondition(lambda self: any(job.ended is None for job in self.world.jobs))
    @rule(data=st.data(), act=st.sampled_from(["cancel", "fail", "requeue", "requeue"]))
    def act_on_a_job(self, data, act):
        jobs = [job for job in self.world.jobs if job.ended is None and job.accepted <= self.world.now]
        if not jobs:
            return
        job = data.draw(st.sampled_from(jobs))
        if act == "requeue":
            job.change("PENDING", self.world.now)
        else:
            self.touched.add(job.name.partition(".")[0])
            job.change("CANCELLED" if act == "cancel" else "FAILED", self.world.now)

    @precondition(lambda self: self.world.requests)
    @rule(data=st.data())
    def cancel_a_run(self, data):
        run = data.draw(st.sampled_from(sorted(self.world.requests)))
        self.touched.add(run)
        self.world.cancels.append(run)

    @invariant()
    def no_step_has_two_jobs(self):
        for run, shape in self.shapes.items():
            for step in shape:
                jobs = self.world.jobs_of(run, step["name"])
                assert len(jobs) <= 1, (run, step, self.world.log[-20:])
                for job in jobs:
                    for need in step.get("needs", ()):
                        before = self.world.jobs_of(run, need)
                        assert before and before[0].state == "COMPLETED" and before[0].ended <= job.accepted

    def teardown(self):
        self.world.settle()
        self.no_step_has_two_jobs()
        assert self.world.ended.keys() == self.shapes.keys() and not self.world.refused
        self.world.advance(LATEST)
        for run, shape in self.shapes.items():
            record = self.world.ended[run]
            for step in shape:
                jobs = self.world.jobs_of(run, step["name"])
                assert all(job.ended is not None for job in jobs), (run, self.world.log[-20:])
                is_done = record.steps[step["name"]].state is StepState.DONE
                assert is_done == (bool(jobs) and jobs[0].state == "COMPLETED"), (run, step, record.steps)
            if run not in self.touched:
                assert record.outcome == "succeeded", (run, record, self.world.log[-20:])


@pytest.mark.parametrize("part", range(4 if LONG else 1))
def test_pipelines_survive_every_fault(part: int) -> None:
    machine = seed(part)(Pipelines) if not LONG else Pipelines
    machine.TestCase.settings = settings(
        max_examples=examples(300, 2500),
        stateful_step_count=12,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    machine.TestCase().runTest()
