"""Reconciliation: the next record of a run and the actions that follow from it.

A step has at most one job. Before a submission the record has the intent, and Slurm is searched for the job's name.
After a submission whose result is not known, or after the journal was lost, no step is submitted before `settle`
seconds: until then Slurm may accept the earlier request, or does not show its job yet (docs/explanation/models.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from landbridge.pipelines.reconcile.gates import gate_faults
from landbridge.pipelines.reconcile.view import (
    CancelJob,
    JobView,
    Measurement,
    PipelineAction,
    StepJob,
    SubmitOutcome,
    SubmitStep,
)
from landbridge.pipelines.runs.names import job_name
from landbridge.pipelines.runs.record import RunRecord, StepRecord, StepState

#: Seconds in which a file that a node has written may not be seen yet on another client of NFS (acdirmax, nfs(5)).
METRICS_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class PipelineDecision:
    """Next record, and the actions that follow when the record is saved."""

    record: RunRecord
    actions: tuple[PipelineAction, ...] = ()


def reconcile(
    record: RunRecord, view: JobView, measured: Mapping[str, Measurement], now: float, settle: float
) -> PipelineDecision:
    """Return the next record of a run and its actions."""
    if record.ended is not None:
        return PipelineDecision(record)
    actions: list[PipelineAction] = []
    for name in record.steps:
        jobs = view.of(record.owner, job_name(record.name, name))
        record = _followed(record, name, jobs, measured.get(name), now)
        own_job = record.steps[name].job
        is_final = record.steps[name].state.has_ended
        actions += [CancelJob(job.id) for job in jobs if not job.has_ended and (job.id != own_job or is_final)]
    stop = stop_reason(record)
    if stop:
        record = _stopped(record, stop, view.at, settle)
        if record.cancelled:
            jobs_left = [step.job for step in record.steps.values() if step.state is StepState.SUBMITTED]
            actions += [CancelJob(job) for job in jobs_left if job is not None and _is_active(view, record, job)]
    else:
        record, submissions = _submissions(record, view.at, now, settle)
        actions += submissions
    if all(step.state.has_ended for step in record.steps.values()):
        record = replace(record, ended=now, outcome=_outcome(record), reason=stop)
    return PipelineDecision(record, tuple(dict.fromkeys(actions)))


def needs_measurement(record: RunRecord, view: JobView) -> tuple[str, ...]:
    """Return the steps whose metrics the next reconciliation reads."""
    names = []
    for step in record.request.source.definition.steps:
        state = record.steps[step.name].state
        jobs = view.of(record.owner, job_name(record.name, step.name))
        has_completed = any(job.state == "COMPLETED" for job in jobs) and not state.has_ended
        if step.gates and (state is StepState.MEASURING or has_completed):
            names.append(step.name)
    return tuple(names)


def after_submission(record: RunRecord, step: str, outcome: SubmitOutcome) -> RunRecord:
    """Return the record after sbatch ended. An unknown result leaves the step as it is, with the reason."""
    if outcome.job is not None:
        return record.with_step(step, state=StepState.SUBMITTED, job=outcome.job, reason="")
    if outcome.refusal:
        return record.with_step(step, state=StepState.FAILED, reason=f"Slurm refused the job: {outcome.refusal}")
    return record.with_step(step, reason=f"the result of sbatch is not known: {outcome.fault}")


def stop_reason(record: RunRecord) -> str:
    """Return the reason why no further step starts; empty if there is none."""
    if record.cancelled:
        return "the run is cancelled"
    for name, step in record.steps.items():
        if step.state in (StepState.FAILED, StepState.CANCELLED):
            return f"step {name}: {step.reason}"
    budget = record.request.source.definition.budget_usd
    is_open = any(step.state is StepState.WAITING for step in record.steps.values())
    if budget is not None and is_open and record.usd >= budget:
        return f"the steps have cost {record.usd:.2f} USD; the budget is {budget:.2f} USD"
    skipped = next((step for step in record.steps.values() if step.state is StepState.SKIPPED), None)
    return skipped.reason if skipped is not None else ""


def _followed(
    record: RunRecord, name: str, jobs: tuple[StepJob, ...], measurement: Measurement | None, now: float
) -> RunRecord:
    """Return the record with the present state of a step's job."""
    step = record.steps[name]
    if step.state.has_ended:
        return record
    if step.state in (StepState.WAITING, StepState.SUBMITTING) and jobs:
        record = record.with_step(name, state=StepState.SUBMITTED, job=jobs[0].id, reason="")
        step = record.steps[name]
    job = next((job for job in jobs if job.id == step.job), None)
    if job is not None and job.usd is not None:
        record = record.with_step(name, usd=job.usd)
    if step.state is StepState.SUBMITTED:
        record = _of_job(record, name, job, now)
    if record.steps[name].state is StepState.MEASURING:
        record = _measured(record, name, measurement, now)
    return record


def _of_job(record: RunRecord, name: str, job: StepJob | None, now: float) -> RunRecord:
    number = record.steps[name].job
    if job is None:
        return record.with_step(name, reason=f"neither squeue nor sacct has job {number} at present")
    if not job.has_ended:
        why = f" ({job.why})" if job.why and job.why != "None" else ""
        return record.with_step(name, reason=f"job {job.id} is {job.state}{why}")
    if job.state == "COMPLETED":
        has_gates = bool(record.request.source.definition.step(name).gates)
        state = StepState.MEASURING if has_gates else StepState.DONE
        return record.with_step(name, state=state, reason="", measuring=now if has_gates else None)
    state = StepState.CANCELLED if job.state == "CANCELLED" else StepState.FAILED
    return record.with_step(name, state=state, reason=f"job {job.id} is {job.state}")


def _measured(record: RunRecord, name: str, measurement: Measurement | None, now: float) -> RunRecord:
    if measurement is None:
        return record.with_step(name, reason="its metrics are not read yet")
    if measurement.fault:
        is_late = now - (record.steps[name].measuring or 0.0) >= METRICS_SECONDS
        state = StepState.FAILED if is_late else StepState.MEASURING
        return record.with_step(name, state=state, reason=measurement.fault)
    faults = gate_faults(record.request.source.definition.step(name), measurement)
    state = StepState.FAILED if faults else StepState.DONE
    reason = f"gate: {'; '.join(faults)}" if faults else ""
    return record.with_step(name, state=state, reason=reason, metrics=dict(measurement.metrics))


def _stopped(record: RunRecord, reason: str, seen: float, settle: float) -> RunRecord:
    """Return the record with the end of steps that have no job. Steps with a job end with it."""
    state = StepState.CANCELLED if record.cancelled else StepState.SKIPPED
    for name, step in record.steps.items():
        is_settled = step.state is StepState.SUBMITTING and seen >= (step.intent or 0.0) + settle
        # After a lost journal a job may exist of which nothing is known yet.
        is_waiting = step.state is StepState.WAITING and seen >= record.hold_until
        if is_waiting or is_settled:
            record = record.with_step(name, state=state, reason=reason)
    return record


def _submissions(record: RunRecord, seen: float, now: float, settle: float) -> tuple[RunRecord, list[PipelineAction]]:
    actions: list[PipelineAction] = []
    for definition in record.request.source.definition.steps:
        step = record.steps[definition.name]
        if not _may_submit(record, step, definition.needs, seen, settle):
            record = record.with_step(definition.name, reason=_wait(record, step, definition.needs, seen))
            continue
        record = record.with_step(definition.name, state=StepState.SUBMITTING, intent=now)
        actions.append(SubmitStep(definition.name))
    return record, actions


def _may_submit(record: RunRecord, step: StepRecord, needs: tuple[str, ...], seen: float, settle: float) -> bool:
    if seen < record.hold_until:
        return False
    if step.state is StepState.SUBMITTING:
        return seen >= (step.intent or 0.0) + settle
    return step.state is StepState.WAITING and all(record.steps[need].state is StepState.DONE for need in needs)


def _wait(record: RunRecord, step: StepRecord, needs: tuple[str, ...], seen: float) -> str:
    if step.state is not StepState.WAITING:
        return step.reason
    left = [need for need in needs if record.steps[need].state is not StepState.DONE]
    if left:
        return f"waits for {', '.join(left)}"
    return "the journal was lost: Slurm's jobs are awaited" if seen < record.hold_until else step.reason


def _is_active(view: JobView, record: RunRecord, number: int) -> bool:
    jobs = (job for name in record.steps for job in view.of(record.owner, job_name(record.name, name)))
    return any(job.id == number and not job.has_ended for job in jobs)


def _outcome(record: RunRecord) -> str:
    states = {step.state for step in record.steps.values()}
    if states == {StepState.DONE}:
        return "succeeded"
    if record.cancelled:
        return "cancelled"
    return "failed" if states & {StepState.FAILED, StepState.CANCELLED} else "over budget"
