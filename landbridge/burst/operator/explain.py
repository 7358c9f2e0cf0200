"""Explanation of why a job does or does not run in AWS: policy, journal state and earlier decisions. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from landbridge.burst.model import BurstPolicy, DecisionRecord, SlurmJob, State
from landbridge.burst.operator.status import jobs_apart
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.apart import APART_CODE
from landbridge.burst.reconcile.promote import reason_to_promote
from landbridge.timestamps import iso

#: Advice for the user or operator, by the code of the reason why a job is not served.
ADVICE = {
    "CAPACITY": "wait: it is tried again; or add offerings to the pool (`capacity`), or request fewer nodes",
    "QUOTA": "request a higher quota from AWS: of the type (`landbridge preflight` reports it), or of the storage of volumes"
    " (VolumeLimitExceeded)",
    "RATE": "request fewer nodes, a longer `resume_timeout` of the pool, or a higher limit of AWS (`burst.launch_bucket`)",
    "CONFIG": "correct the reported error (launch template, permissions), then `landbridge burst reset-breaker POOL`",
    "BREAKER": "correct the cause that `landbridge burst status` reports, then `landbridge burst reset-breaker POOL`",
    "BUDGET": "wait for the next month, raise the budget in the environment, or request a shorter time limit",
    "RESIDENCY": "the account's data stays on-prem: use an on-prem partition, or an account whose data may be in AWS",
    "REGION": "its data may be in AWS, but not in that region: it is tried again; or add the region to its data class",
    "CLASS": "its workload class does not run in AWS: it waits for on-prem nodes; or change its class (`placement`)",
    "DRAINED": "`landbridge burst undrain POOL` lets the pool start nodes again",
    "NETWORK": "AWS was not reached, or this host has no AWS credentials: `landbridge burst doctor`; the job is tried again",
    "GONE": "instances ended before their nodes registered: correct EC2's reason, if the text has one (a KMS key, a snapshot);"
    " else check their console output, and the image",
    "UNHEALTHY": "the health checks found a fault of a node before the job started: it is tried again on another instance",
    "EVENT": "nothing: EC2 reboots, stops or maintains the instance at that time; the job is tried again on another instance",
    "IMPAIRED": "nothing: EC2's status check of the instance failed; the job is tried again on another instance",
    "APART": "nothing: it is tried again in one zone; a job that runs keeps its nodes, and a next one starts in one zone",
    "ORPHANED": "the instance and its node did not belong together any more; the job is tried again",
}
#: Advice for a job that Slurm ended with its nodes.
ENDED_ADVICE = (
    "submit it again: Slurm requeues only batch jobs that may be requeued. As a batch job with --requeue it waits and is"
    " tried again"
)
#: Codes whose cause the user or an operator has to correct before the job is submitted again.
_CODES_TO_CORRECT = frozenset({"QUOTA", "CONFIG", "BREAKER", "BUDGET", "RESIDENCY", "DRAINED"})
#: States of jobs that have not ended.
_PRESENT_STATES = frozenset({"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING"})
UNKNOWN = "neither Slurm nor the journal knows this job"


@dataclass(frozen=True, slots=True)
class ExplanationPoint:
    """Fact of an explanation, present or past; `at` is empty for a present one."""

    about: str  # job, policy, hold, backoff, drained, breaker, launch, refused, offering, ...
    text: str
    at: str = ""
    code: str = ""
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class JobExplanation:
    """Explanation of a job: its state now, its history (oldest first) and advice; `known`: Slurm or the journal has the job."""

    job: int
    known: bool
    now: tuple[ExplanationPoint, ...]
    before: tuple[ExplanationPoint, ...]
    do: tuple[str, ...]


def explain_job(
    number: int,
    job: SlurmJob | None,
    state: State,
    policy: BurstPolicy,
    records: Sequence[DecisionRecord],
    now: float,
    data: Sequence[str] = (),
    training: str = "",
) -> JobExplanation:
    """Return the explanation of a job. `job` is None if Slurm does not have it (any more). `data`: the state of its data; `training`:
    what SageMaker would cost, or why it does not run the job.
    """
    end = _end(job, records)
    if end is not None:
        state = replace(state, backoffs={})  # it is not tried again
    present = [*_slurm(job, policy, now), *_journal(number, state, now), *_apart(job, state, policy)]
    present += [ExplanationPoint("data", text) for text in data]
    present += [ExplanationPoint("sagemaker", training)] * bool(training and job is not None)
    past = [point for record in records for point in _points(record)]
    codes = _codes(number, job, state, policy, records) if end is None else [*_CODES_TO_CORRECT & {end.code}]
    advice = [ADVICE[code] for code in codes if code in ADVICE] + [ENDED_ADVICE] * (end is not None)
    do = [_for_pool(text, record_pool(records)) for text in advice]
    is_known = job is not None or bool(present or past)
    return JobExplanation(number, is_known, tuple(present), tuple(past), tuple(do) if is_known else (UNKNOWN,))


def _end(job: SlurmJob | None, records: Sequence[DecisionRecord]) -> DecisionRecord | None:
    """Return the record of the job's end if Slurm ended it when its nodes were set down."""
    if job is not None and job.state in _PRESENT_STATES:
        return None
    return next((record for record in reversed(records) if record.event == "job-ends"), None)


def record_pool(records: Sequence[DecisionRecord]) -> str:
    """Return the pool of the last record that has one; `POOL` if none has."""
    return next((record.pool for record in reversed(records) if record.pool), "POOL")


def _for_pool(text: str, pool: str) -> str:
    return text.replace("POOL", pool)


def _slurm(job: SlurmJob | None, policy: BurstPolicy, now: float) -> Iterator[ExplanationPoint]:
    if job is None:
        return
    allocation = f" on {len(job.nodes)} nodes" if job.nodes else ""
    yield ExplanationPoint(
        "job", f"{job.state.lower()}{allocation}, partition {job.partition}, account {job.account or '(none)'}"
    )
    refusal = residency.reject_job_if_restricted(policy, job)
    if refusal is not None:
        yield ExplanationPoint("policy", refusal, code="RESIDENCY")
    else:
        account = policy.accounts.get(job.account)
        yield ExplanationPoint(
            "policy", f"data of class {account.data_class if account else '(operators)'} may be in AWS"
        )
    if job.state != "PENDING" or refusal is not None:
        return
    partitions = set(job.partition.split(","))
    promotion = next((rule for rule in policy.promotions if rule.partition in partitions), None)
    if promotion is not None and not partitions & set(promotion.partitions):
        waited = reason_to_promote(job, promotion, now)
        text = f"may use {', '.join(promotion.partitions)} once it would wait more than {promotion.wait_seconds:.0f} s"
        yield ExplanationPoint("promotion", f"{text}; it {waited or 'does not, as far as Slurm can tell'}")


def _apart(job: SlurmJob | None, state: State, policy: BurstPolicy) -> Iterator[ExplanationPoint]:
    for apart in jobs_apart({job.id: job} if job is not None else {}, state, policy):
        yield ExplanationPoint("apart", f"its nodes are in {apart.locations}", code=APART_CODE)


def _journal(number: int, state: State, now: float) -> Iterator[ExplanationPoint]:
    backoff = state.backoffs.get(number)
    if backoff is not None:
        next_try = f"tried again from {iso(backoff.until)}" if backoff.until > now else "to be tried again now"
        yield ExplanationPoint(
            "backoff", f"{backoff.text}; {next_try} (after {backoff.tries} times)", code=backoff.code
        )
    for attempt in state.attempts.values():
        if number not in attempt.jobs:
            continue
        count = f"{len(attempt.nodes)} nodes of {attempt.pool} at {attempt.offering}"
        if attempt.ended is None:
            text = f"asked AWS for {count}; its answer is not known yet"
        else:
            text = f"AWS refused {count}" if attempt.code else f"AWS gave {count}"
            text = "; ".join((text, *(f"EC2 ended that of {node}: {end}" for node, end in attempt.ends.items())))
        yield ExplanationPoint("launch", text, iso(attempt.created_at), attempt.code)
        keys = (attempt.token, *attempt.instances.values())
        holds = [state.holds[key] for key in keys if key in state.holds]
        if holds:
            usd = sum(hold.usd for hold in holds)
            text = f"{usd:.2f} USD are held for it ({attempt.usd_hour:.2f} USD a node and hour)"
            yield ExplanationPoint("hold", text, iso(min(hold.since for hold in holds)), usd=usd)


def _points(record: DecisionRecord) -> Iterator[ExplanationPoint]:
    nodes = f" ({len(record.nodes)} nodes of {record.pool})" if record.nodes and record.pool else ""
    yield ExplanationPoint(record.event, f"{record.text}{nodes}".strip(), iso(record.at), record.code, record.usd)
    if record.event != "down":  # it repeats the rejections of `exhausted`
        yield from _rejected(record.details.get("rejected"), iso(record.at))


def _rejected(rejections: Any, at: str) -> Iterator[ExplanationPoint]:
    for rejection in rejections if isinstance(rejections, Iterable) and not isinstance(rejections, str) else ():
        if isinstance(rejection, Mapping):
            usd = rejection.get("usd")
            text = f"{rejection.get('offering', '?')}: {rejection.get('why', '')}"
            yield ExplanationPoint(
                "offering", text, at, str(rejection.get("code", "")), float(usd) if usd is not None else None
            )


def _codes(
    number: int, job: SlurmJob | None, state: State, policy: BurstPolicy, records: Sequence[DecisionRecord]
) -> list[str]:
    """Return the codes of the reasons why the job does not run now."""
    codes = []
    if job is not None and residency.reject_job_if_restricted(policy, job) is not None:
        codes.append("RESIDENCY")
    if number in state.backoffs and (job is None or job.state == "PENDING"):
        codes.append(state.backoffs[number].code)
    elif job is not None and jobs_apart({number: job}, state, policy):
        codes.append(APART_CODE)
    elif job is not None and job.state == "PENDING":
        codes += [record.code for record in records[-1:] if record.code]
    return list(dict.fromkeys(codes))
