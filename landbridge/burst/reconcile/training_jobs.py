"""Training jobs of SageMaker in the ledger: admission before the call, and charges by DescribeTrainingJob. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from landbridge.burst.model import BurstPolicy, Charge, ChargeKey, ChargeKind, State, TrainingJob
from landbridge.burst.model.training_job import TRAINING
from landbridge.burst.reconcile.budget import Ledger
from landbridge.burst.reconcile.residency import reject_if_restricted
from landbridge.timestamps import day_end, day_of, month_of

ENDED = frozenset({"Completed", "Failed", "Stopped"})
DAY = 86_400.0
#: An ended job stays in the journal for 90 days. A job that only AWS has is added if it is younger than 60 days: so none that the
#: journal has charged and deleted is charged a second time.
KEPT_SECONDS, ADDED_SECONDS = 90 * DAY, 60 * DAY


class TrainingRefused(Exception):
    """Refusal of a job by the policy or by a hard cap; `rule`: rule of the finding."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(text)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class TrainingStatus:
    """Training job in AWS: status, billable seconds of one instance, and times of the training (Unix time)."""

    name: str
    status: str
    billable_seconds: int = 0
    started: float | None = None
    ended: float | None = None


def admitted(state: State, policy: BurstPolicy, job: TrainingJob, now: float, wckey: str = "") -> State:
    """Return the state in which the budget holds the job's cost. Raises TrainingRefused.

    A job of this name that the journal has already changes nothing.
    """
    if job.name in state.training_jobs:
        return state
    reason = reject_if_restricted(policy, job.account, wckey)
    if reason is not None:
        raise TrainingRefused("training-class", reason)
    text = Ledger.of(state, policy, now).refusal(job.account, TRAINING, job.held_usd)
    if text is not None:
        raise TrainingRefused("training-budget", text)
    return with_job(state, job)


def soft_cap(state: State, policy: BurstPolicy, job: TrainingJob, now: float) -> str | None:
    """Return the text of a soft cap that the job exceeds; None if there is none."""
    return Ledger.of(state, policy, now).warning(job.account, TRAINING, job.held_usd)


def with_job(state: State, job: TrainingJob) -> State:
    """Return the state with a job."""
    return replace(state, training_jobs={**state.training_jobs, job.name: job})


def confirmed(state: State, job: TrainingJob) -> State:
    """Return the state in which AWS has the job. A status that another command has read stays."""
    known = state.training_jobs.get(job.name, job)
    return with_job(state, known if known.status else replace(known, status="InProgress"))


def without_job(state: State, name: str) -> State:
    """Return the state without a job: AWS does not have it, so it cost nothing."""
    return replace(state, training_jobs={key: job for key, job in state.training_jobs.items() if key != name})


def observed(state: State, status: TrainingStatus, now: float) -> State:
    """Return the state with a job's status; at its end, its cost is spent. Repeating it changes nothing."""
    job = state.training_jobs.get(status.name)
    if job is None or job.ended is not None:
        return state
    if status.status not in ENDED:
        return with_job(state, replace(job, status=status.status))
    end = now if status.ended is None else min(status.ended, now)
    billed = status.billable_seconds
    ended = replace(job, status=status.status, ended=end, billed_seconds=billed, usd=job.cost(billed))
    charges = _charges(ended, end if status.started is None else min(status.started, end), end)
    spent = dict(state.spent)
    for charge in charges:
        key = (charge.key.day[: len("2026-11")], charge.key.account, TRAINING)
        spent[key] = spent.get(key, 0.0) + charge.usd
    return replace(with_job(state, ended), spent=spent, charges=(*state.charges, *charges))


def forgotten(state: State, now: float) -> State:
    """Return the state without jobs that ended long ago; their charges stay."""
    jobs: Mapping[str, TrainingJob] = {
        name: job
        for name, job in state.training_jobs.items()
        if job.ended is None or now - max(job.ended, job.created_at) < KEPT_SECONDS
    }
    return state if len(jobs) == len(state.training_jobs) else replace(state, training_jobs=jobs)


def may_add(created: float, now: float) -> bool:
    """Return whether a job that only AWS has is added to the journal."""
    return now - created < ADDED_SECONDS


def committed_by_account(state: State, now: float) -> dict[str, tuple[float, float]]:
    """Return spent and held USD of training jobs in this month, by account."""
    sums: dict[str, tuple[float, float]] = {}
    for (month, account, pool), usd in state.spent.items():
        if (month, pool) == (month_of(now), TRAINING):
            spent, held = sums.get(account, (0.0, 0.0))
            sums[account] = spent + usd, held
    for job in state.training_jobs.values():
        spent, held = sums.get(job.account, (0.0, 0.0))
        sums[job.account] = spent, held + job.held_usd
    return dict(sorted(sums.items()))


def _charges(job: TrainingJob, start: float, end: float) -> list[Charge]:
    """Return the charges of the billed seconds, divided by the days of the training."""
    total = job.nodes * job.billed_seconds
    if total <= 0:
        return []
    charges: list[Charge] = []
    parts = [(start, 1.0)] if start >= end else list(_shares(start, end))
    for at, share in parts:
        key = ChargeKey(day_of(at), TRAINING, job.account, 0, ChargeKind.JOB, job.instance_type)
        seconds = total * share
        charges.append(Charge(key, seconds, job.usd * share, seconds if job.usd_hour == 0 else 0.0))
    return charges


def _shares(start: float, end: float) -> list[tuple[float, float]]:
    """Return the start of each day's part of a time, and its share of the whole."""
    shares, at = [], start
    while at < end:
        stop = min(end, day_end(at))
        shares.append((at, (stop - at) / (end - start)))
        at = stop
    return shares
