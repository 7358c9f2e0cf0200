"""Names of a run and of its jobs. All are computed, so that the same trigger gives the same run and the same jobs."""

import hashlib
import re

_RUN = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?-[0-9a-f]{10}")
_STEP = re.compile(r"[a-z]([a-z0-9-]{0,28}[a-z0-9])?")


def run_name(pipeline: str, trigger: str, key: str) -> str:
    """Return the name of the run of a trigger; `key` is the version, the slot, the event or the commit."""
    return f"{pipeline}-{hashlib.sha256(f'{pipeline}|{trigger}|{key}'.encode()).hexdigest()[:10]}"


def is_run_name(text: str) -> bool:
    """Return whether the text is the name of a run, and so is safe as a file name."""
    return _RUN.fullmatch(text) is not None


def is_run_of(text: str, pipeline: str) -> bool:
    """Return whether the text is the name of a run of a pipeline."""
    return is_run_name(text) and text.rpartition("-")[0] == pipeline


def job_name(run: str, step: str) -> str:
    """Return the name of a step's job, of which Slurm has at most one for each owner."""
    return f"{run}.{step}"


def step_of(name: str, run: str) -> str | None:
    """Return the step of a job's name; None for a job of another run."""
    step = name.removeprefix(f"{run}.")
    return step if name.startswith(f"{run}.") and _STEP.fullmatch(step) else None


def job_comment(run: str, step: str, datasets: tuple[str, ...]) -> str:
    """Return the comment of a step's job: its run and step, and the datasets that it states (landbridge/staging)."""
    words = [f"pipeline={run}/{step}", *([f"data={','.join(datasets)}"] if datasets else [])]
    return " ".join(words)
