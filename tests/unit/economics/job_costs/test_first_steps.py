"""Times until the first training step: of the run of the job in which the step was made, within a month, as a histogram."""

from landbridge.economics.job_costs.first_steps import first_step_metrics, first_step_seconds
from landbridge.trace.allocations import Allocation


def run(job: int, start: int) -> Allocation:
    return Allocation(job, str(job), "ann", "vision", "all", "COMPLETED", start, start + 900, ("dgx01",), 8, 8)


def test_a_step_belongs_to_the_newest_run_that_had_begun() -> None:
    runs = [run(7, 100), run(7, 2000), run(8, 500)]
    steps = [(7, "2030.5"), (8, "560"), (9, "600"), (8, "450"), (8, "later"), (7, "99999")]
    assert list(first_step_seconds(steps, runs, 0, 3000)) == [30.5, 60.0]


def test_the_histogram_counts_each_time_up_to_its_bounds() -> None:
    text = first_step_metrics([30.5, 60.0, 400.0], (60, 300), "cost")
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    name = "landbridge_jobs_first_step_seconds"
    assert values == {
        f'{name}_bucket{{timer="cost",le="60"}}': "2",
        f'{name}_bucket{{timer="cost",le="300"}}': "2",
        f'{name}_bucket{{timer="cost",le="+Inf"}}': "3",
        f'{name}_count{{timer="cost"}}': "3",
        f'{name}_sum{{timer="cost"}}': "490.5",
    }
