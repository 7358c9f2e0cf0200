"""Run of the steps of one direction, in their order: it calls steps.py and records.py."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from landbridge.catalog.site_loss import Way
from landbridge.ops.site_loss.dumps import made_at
from landbridge.ops.site_loss.records import append, read
from landbridge.ops.site_loss.steps import PlannedStep, next_step, refusal

_ANSWER_SECONDS = 3.0
#: Runs a command and returns its exit status.
Command = Callable[[Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class StepRun:
    """Run of one direction: its steps, the file of its records, and the folder of dumps. `silent`: addresses and ports of the site's
    control plane, none of which may answer while it is fenced.
    """

    way: Way
    steps: tuple[PlannedStep, ...]
    records: Path
    dumps: Path
    silent: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """End of a run. `waits_for`: the step of an operator that is next; `problem`: the reason why it ended otherwise."""

    waits_for: PlannedStep | None = None
    problem: str = ""


def run(
    step_run: StepRun, confirmed: Iterable[str], tell: Callable[[str], None], command: Command | None = None
) -> Outcome:
    """Run the steps that have not ended, up to one that an operator has to do. `confirmed`: operators' steps that are done."""
    execute, done = command or _execute, set(confirmed)
    if read(step_run.records).declared_at is None:
        append(step_run.records, "declared", time.time())
    while (step := next_step(step_run.steps, read(step_run.records))) is not None:
        if not step.words and step.name not in done:
            return Outcome(waits_for=step)
        reason = refusal(step_run.way, step_run.steps, read(step_run.records), step) or _answering(step_run, step)
        if reason is not None:
            return Outcome(problem=reason)
        append(step_run.records, "began", time.time(), step=step.name)
        tell(f"{step.name}: {step.command or step.facts.text}")
        status = execute(step.words) if step.words else 0
        if status != 0:
            append(step_run.records, "failed", time.time(), step=step.name, status=status)
            return Outcome(problem=f"{step.name} ended with status {status}: correct it and repeat this command")
        data_of = {"data_of": made_at(step_run.dumps)} if step.facts.point else {}
        append(step_run.records, "ended", time.time(), step=step.name, **data_of)
    return Outcome()


def _answering(step_run: StepRun, step: PlannedStep) -> str | None:
    """Return the reason for which a fence of the site does not hold: a host of its control plane answers."""
    if step.facts.fences != "onprem" and step.facts.starts != "aws":
        return None
    for address, port in step_run.silent:
        try:
            with socket.create_connection((address, port), _ANSWER_SECONDS):
                return f"{address} answers on port {port}: the site's control plane is not fenced"
        except OSError:
            continue
    return None


def _execute(words: Sequence[str]) -> int:
    """Run a command. A program of this installation is that of this interpreter."""
    beside = Path(sys.executable).parent / words[0]
    program = str(beside) if beside.exists() else words[0]
    return subprocess.run([program, *words[1:]], check=False).returncode
