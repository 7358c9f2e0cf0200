"""Time from the start of a job's run to its first training step, as a histogram for Prometheus. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from landbridge.trace.allocations import Allocation

#: Tag of a run in MLflow: time of the first training step of the job's last run, in seconds since 1970.
FIRST_STEP_TAG = "landbridge.first_step"
NAME = "landbridge_jobs_first_step_seconds"


def first_step_seconds(
    steps: Iterable[tuple[int, str]], allocations: Iterable[Allocation], start: float, end: float
) -> Iterator[float]:
    """Yield the seconds from the start of the run in which the step was made. `steps`: job and value of the tag.

    Steps outside the period, values that are not times, and steps before every run of their job are left out.
    """
    runs: dict[int, list[int]] = {}
    for each in allocations:
        runs.setdefault(each.job, []).append(each.start)
    for job, text in steps:
        moment = _moment(text)
        begun = [run for run in runs.get(job, ()) if moment is not None and run <= moment]
        if moment is not None and begun and start <= moment < end:
            yield moment - max(begun)


def first_step_metrics(seconds: Sequence[float], bounds: Sequence[float], timer: str) -> str:
    """Return the histogram in Prometheus' text format; it begins at zero in each month."""
    lines = [
        f"# HELP {NAME} Time from the start of a run of a job to its first training step.",
        f"# TYPE {NAME} histogram",
    ]
    for bound in (*bounds, float("inf")):
        le = "+Inf" if bound == float("inf") else f"{bound:g}"
        lines.append(f'{NAME}_bucket{{timer="{timer}",le="{le}"}} {sum(value <= bound for value in seconds)}')
    lines += [f'{NAME}_count{{timer="{timer}"}} {len(seconds)}', f'{NAME}_sum{{timer="{timer}"}} {sum(seconds):.12g}']
    return "\n".join([*lines, ""])


def _moment(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
