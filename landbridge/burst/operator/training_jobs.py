"""Training jobs of SageMaker: submission, stop and comparison with AWS. The journal has a job before AWS gets it.

A command that is killed between the two leaves a job in the journal that AWS does not have: the same submission creates it, and the
comparison releases its hold.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from landbridge import tags
from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.burst.journal.store import Store
from landbridge.burst.model import BurstPolicy, DecisionRecord, State, TrainingJob
from landbridge.burst.model.training_job import TRAINING
from landbridge.burst.reconcile.budget import Ledger
from landbridge.burst.reconcile.training_jobs import (
    ADDED_SECONDS,
    ENDED,
    TrainingStatus,
    admitted,
    confirmed,
    forgotten,
    may_add,
    observed,
    soft_cap,
    with_job,
    without_job,
)

SERVICE = "sagemaker"
Connect = Callable[[], AwsClient]
Change = Callable[[State], State]
_EXISTS = "ResourceInUse"
_REFUSALS = (RefusalKind.ANSWER, RefusalKind.DENIED, RefusalKind.CREDENTIALS)
_ABSENT = "Requested resource not found"


@dataclass(frozen=True, slots=True)
class Submission:
    """Result of a submission. `is_new`: this call created the job; `warning`: the soft cap that it exceeds."""

    job: TrainingJob
    is_new: bool
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """Result of the comparison for one job: running, ended, released, added, or refused with a reason."""

    name: str
    result: str
    text: str = ""


def left_usd(store: Store, policy: BurstPolicy, account: str, now: float) -> float | None:
    """Return what the hard caps leave for a training job of an account; None without a cap."""
    return Ledger.of(store.load(), policy, now).left(account, TRAINING)


def submit(
    store: Store,
    policy: BurstPolicy,
    job: TrainingJob,
    parameters: Mapping[str, Any],
    connect: Connect,
    wckey: str = "",
) -> Submission:
    """Hold the job's cost in the ledger, then create it. A job that exists already is created no second time.

    Raises TrainingRefused, and AwsRefusal: after a refusal by AWS nothing is held; without an answer the hold stays.
    """
    known = store.load().training_jobs.get(job.name)
    if known is not None and known.status:
        return Submission(known, is_new=False)
    now = job.created_at
    warning = soft_cap(store.load(), policy, job, now)
    store.update(lambda state: admitted(state, policy, job, now, wckey))
    is_new = True
    try:
        connect().ask(SERVICE, "create_training_job", **parameters)
    except AwsRefusal as refused:
        if refused.code != _EXISTS:
            # The call of an earlier command, whose result is not known, may have created the job.
            if known is None and refused.kind in _REFUSALS:
                store.update(lambda state: without_job(state, job.name))
            raise
        is_new = False
    state = store.update(lambda state: confirmed(state, job))
    details = {"training_job": job.name, "account": job.account, "user": job.user, "instance_type": job.instance_type}
    code = "" if warning is None else "soft-cap"
    store.record([DecisionRecord(now, "training", code=code, text=warning or "", usd=job.held_usd, details=details)])
    return Submission(state.training_jobs[job.name], is_new, warning)


def stop(store: Store, name: str, connect: Connect, now: float) -> TrainingJob:
    """Stop a job, and return it. One that has ended stays as it is. Raises AwsRefusal."""
    status = describe(connect(), name)
    if status is not None and status.status == "InProgress":
        connect().ask(SERVICE, "stop_training_job", TrainingJobName=name)
        status = describe(connect(), name)
    if status is not None:
        store.update(lambda state: observed(state, status, now))
    job = store.load().training_jobs.get(name)
    if job is None:
        raise AwsRefusal("sagemaker:StopTrainingJob", "ValidationException", f"{name}: the journal has no such job")
    return job


def compare(
    store: Store, policy: BurstPolicy, connect: Connect, price: Callable[[str], float | None], now: float
) -> Iterator[Compared]:
    """Compare the journal with AWS: spend ended jobs, release those that AWS does not have, add those that only AWS has.

    Repeating it changes nothing. Raises AwsRefusal.
    """
    aws = connect()
    jobs = store.load().training_jobs
    for name in sorted(name for name, job in jobs.items() if job.ended is None):
        status = describe(aws, name)
        if status is not None:
            after = store.update(_observe(status, now)).training_jobs.get(name, jobs[name])
            text = f"{after.billed_seconds} s billed, {after.usd:,.2f} USD" if after.ended is not None else ""
            yield Compared(name, status.status, text)
        elif now - jobs[name].created_at > policy.settle_seconds:
            store.update(_release(name))
            yield Compared(name, "released", "AWS does not have it")
    for summary in _listed(aws, policy.cluster, now):
        name = str(summary["TrainingJobName"])
        if name not in jobs and (other := _found(aws, name, policy.cluster, price)) is not None:
            job, status = other
            store.update(_add(job, status, now))
            yield Compared(name, "added", f"{status.status}; the journal did not have it")
    store.update(lambda state: forgotten(state, now))


def _observe(status: TrainingStatus, now: float) -> Change:
    return lambda state: observed(state, status, now)


def _release(name: str) -> Change:
    return lambda state: without_job(state, name)


def _add(job: TrainingJob, status: TrainingStatus, now: float) -> Change:
    """Return the change that adds a job. One that another command has added in the meantime stays as it is."""
    return lambda state: observed(state if job.name in state.training_jobs else with_job(state, job), status, now)


def describe(aws: AwsClient, name: str) -> TrainingStatus | None:
    """Return a job of AWS; None if it has none of this name. Raises AwsRefusal."""
    shown = _shown(aws, name)
    return None if shown is None else _status(shown)


def _shown(aws: AwsClient, name: str) -> Mapping[str, Any] | None:
    try:
        shown: Mapping[str, Any] = aws.ask(SERVICE, "describe_training_job", TrainingJobName=name)
    except AwsRefusal as refused:
        if _ABSENT in refused.message:
            return None
        raise
    return shown


def _status(shown: Mapping[str, Any]) -> TrainingStatus:
    return TrainingStatus(
        name=str(shown["TrainingJobName"]),
        status=str(shown["TrainingJobStatus"]),
        billable_seconds=int(shown.get("BillableTimeInSeconds") or 0),
        started=_time(shown.get("TrainingStartTime")),
        ended=_time(shown.get("TrainingEndTime")) if shown["TrainingJobStatus"] in ENDED else None,
    )


def _listed(aws: AwsClient, cluster: str, now: float) -> Iterator[Mapping[str, Any]]:
    """Yield the jobs of AWS whose names begin with the cluster's, as far as they may be added."""
    since = datetime.fromtimestamp(now - ADDED_SECONDS, UTC)
    parameters = {"NameContains": f"{cluster}-", "CreationTimeAfter": since}
    for summary in aws.all(SERVICE, "list_training_jobs", "TrainingJobSummaries", **parameters):
        created = _time(summary.get("CreationTime"))
        if str(summary["TrainingJobName"]).startswith(f"{cluster}-") and created is not None and may_add(created, now):
            yield summary


def _found(
    aws: AwsClient, name: str, cluster: str, price: Callable[[str], float | None]
) -> tuple[TrainingJob, TrainingStatus] | None:
    """Return a job that only AWS has, by its tags; None if it is not of this cluster."""
    shown = _shown(aws, name)
    if shown is None:
        return None
    pairs = aws.all(SERVICE, "list_tags", "Tags", ResourceArn=shown["TrainingJobArn"])
    pairs_by_key = {str(pair["Key"]): str(pair["Value"]) for pair in pairs}
    if pairs_by_key.get(tags.CLUSTER) != cluster:
        return None
    resources = shown["ResourceConfig"]
    job = TrainingJob(
        name=name,
        account=pairs_by_key.get(tags.ACCOUNT, ""),
        user=pairs_by_key.get(tags.USER, ""),
        data_class=pairs_by_key.get(tags.DATA_CLASS, ""),
        instance_type=str(resources["InstanceType"]),
        nodes=int(resources["InstanceCount"]),
        usd_hour=price(str(resources["InstanceType"])) or 0.0,
        seconds=int(shown["StoppingCondition"]["MaxRuntimeInSeconds"]),
        created_at=_time(shown.get("CreationTime")) or 0.0,
        spot=bool(shown.get("EnableManagedSpotTraining")),
    )
    return job, _status(shown)


def _time(value: Any) -> float | None:
    return value.timestamp() if isinstance(value, datetime) else None
