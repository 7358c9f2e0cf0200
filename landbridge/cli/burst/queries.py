"""Commands `landbridge burst status`, `why` and `history`."""

import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.burst.common import ConfigFile, Form, controller
from landbridge.cli.common import File, Format, Stack, print_json, require

if TYPE_CHECKING:
    from landbridge.burst.model import BurstPolicy, DecisionRecord, Ec2View, SlurmJob
    from landbridge.burst.operator.explain import JobExplanation
    from landbridge.burst.operator.explain_node import NodeExplanation
    from landbridge.burst.operator.status import NodeStatus, PoolStatus

JobOrNode = Annotated[str, typer.Argument(metavar="JOB|NODE", help="The job's number, or a node of a pool.")]
OfJob = Annotated[int | None, typer.Option("--job", help="Only decisions about this job.")]
OfPool = Annotated[str | None, typer.Option("--pool", help="Only this pool.")]
Since = Annotated[
    str | None, typer.Option(metavar="WHEN", help="Start time: 2026-11-22T08:00 (UTC), or 90m, 6h, 3d ago.")
]
Limit = Annotated[int, typer.Option(min=1, help="Number of latest decisions to show.")]
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(status)
    app.command()(why)
    app.command()(history)


def status(config: ConfigFile = None, form: Form = Format.TEXT) -> None:
    """Show instances with their nodes, pools and budgets.

    Exit status 1 if the two disagree, a node is down or kept by an operator, or EC2 does not answer. Example: landbridge
    burst status
    """
    from landbridge.burst.aws.regions import ec2_of_regions
    from landbridge.burst.model.errors import AwsError
    from landbridge.burst.operator import status as status_report
    from landbridge.burst.slurm import slurm

    failure = ""
    with controller(config) as (burst_config, store):
        try:
            ec2: Ec2View | None = ec2_of_regions(burst_config).view()
        except AwsError as error:
            ec2, failure = None, f"EC2 does not answer, and nothing is launched: {error} (landbridge burst doctor)"
        view = slurm.view(burst_config.policy)
        state, lease, now = store.load(), store.lease(), time.time()
    policy = burst_config.policy
    rows = status_report.node_statuses(ec2.instances, view.nodes, state, policy) if ec2 is not None else []
    unread = status_report.unread_statuses(state)
    pools = status_report.pool_statuses(burst_config.policy, state, ec2, now)
    money = status_report.account_spending(state, now)
    apart = status_report.jobs_apart(view.jobs, state, burst_config.policy)
    if form is Format.JSON:
        print_json(
            {
                "acting": {"host": lease[0], "until": lease[1]} if lease is not None else None,
                "nodes": [asdict(row) for row in rows],
                "pools": [asdict(pool) for pool in pools],
                "accounts": {name: {"spent_usd": spent, "held_usd": held} for name, (spent, held) in money.items()},
                "jobs_apart": [asdict(job) for job in apart],
                "orders": len(state.orders),
                "unread_statuses": unread,
                "failure": failure or None,
            }
        )
    else:
        if failure:
            typer.echo(failure)
        _status(rows, pools, complete=not failure)
        for line in unread:
            typer.echo(f"{line} (landbridge burst doctor)")
        for job in apart:
            typer.echo(f"job {job.job} has nodes in {job.locations}: landbridge burst why {job.job}")
        for name, (spent, held) in money.items():
            typer.echo(f"account {name or '(no job)'}: {spent:,.2f} USD spent this month, {held:,.2f} held")
        if lease is None or lease[1] < now:
            typer.echo("no controller acts now: landbridge burst doctor")
    raise typer.Exit(1 if failure or any(row.remark for row in rows) else 0)


def why(
    name: JobOrNode, stack: Stack = None, file: File = None, config: ConfigFile = None, form: Form = Format.TEXT
) -> None:
    """Explain where a job runs, or the state of a node.

    Prints data class, offerings tried, budget, and the fix; of a node its instance, scheduled events, keep, and the
    latest decisions. With an environment (-s), of a pending job also whether SageMaker would run it, the price, or why not.

    Exit status 1 for an unknown job or node. Examples: landbridge burst why 4711; landbridge burst why p5-3
    """
    from landbridge.burst.operator.explain import explain_job
    from landbridge.burst.operator.explain_node import RECORDS, explain_node
    from landbridge.burst.slurm import slurm

    with controller(config) as (burst_config, store):
        policy, state, now = burst_config.policy, store.load(), time.time()
        explanation: JobExplanation | NodeExplanation
        if name.isdigit():
            job = int(name)
            records, data = store.records(job, 200), _data(job, policy, now)
            raw = _raw_job(job)
            training = ""
            if stack is not None or file is not None:
                from landbridge.cli.place.training import training_text

                training = training_text(require(stack, file), raw, store, policy, now)
            explanation = explain_job(job, _job(raw), state, policy, records, now, data, training)
        else:
            view = slurm.view(policy, pending=())
            explanation = explain_node(name, view, state, policy, store.records(limit=RECORDS))
    if form is Format.JSON:
        print_json(asdict(explanation))
    else:
        for heading, points in (("now", explanation.now), ("before", explanation.before)):
            if points:
                typer.echo(f"{heading}:")
            for point in points:
                words = (point.at, point.about, point.code, point.text, f"{point.usd:,.2f} USD" if point.usd else "")
                typer.echo("  " + "  ".join(word for word in words if word))
        for action in explanation.do:
            typer.echo(f"to do: {action}" if explanation.known else action)
    raise typer.Exit(0 if explanation.known else 1)


def _data(job: int, policy: "BurstPolicy", now: float) -> "tuple[str, ...]":
    """Return the state of the data that a pending job states, and of the results of any job."""
    from pathlib import Path

    from landbridge.burst.staging.decide import explain_data
    from landbridge.burst.staging.queue import data_jobs
    from landbridge.burst.staging.results import results_text
    from landbridge.staging.exchange import read_reports, read_results, read_results_reports

    if policy.staging is None:
        return ()
    folder = Path(policy.staging.exchange)
    stated = next((each for each in data_jobs() if each.id == job), None)
    is_waiting = stated is not None and stated.is_pending and bool(stated.data)
    texts = explain_data(stated, read_reports(folder), policy, policy.staging, now) if stated and is_waiting else ()
    run = f"{policy.cluster}-{job if stated is None else stated.submission}"
    try:
        request = read_results(folder).get(run)
    except (OSError, ValueError) as error:
        return (*texts, f"results: {error}")
    return texts if request is None else (*texts, results_text(request, read_results_reports(folder).get(run)))


def history(
    job: OfJob = None,
    pool: OfPool = None,
    since: Since = None,
    limit: Limit = 100,
    config: ConfigFile = None,
    form: Form = Format.TEXT,
) -> None:
    """Show the controller's decisions, oldest first. Example: landbridge burst history --pool p5 --since 6h"""
    from landbridge.burst.journal.rows import record_fields

    start = moment(since, datetime.now(UTC))
    with controller(config) as (_, store):
        all_records = store.records(job, 100_000 if pool or since else limit)
    records = [record for record in all_records if record.at >= start and pool in (None, record.pool)][-limit:]
    if form is Format.JSON:
        print_json([record_fields(record) for record in records])
        return
    for record in records:
        typer.echo(_line(record))


def moment(text: str | None, now: datetime) -> float:
    """Parse `--since` to a Unix timestamp."""
    if text is None:
        return 0.0
    if text[:-1].isdigit() and text[-1] in UNITS:
        return (now - timedelta(**{UNITS[text[-1]]: int(text[:-1])})).timestamp()
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text} is neither a date and time nor 90m, 6h, 3d", param_hint="--since") from None
    return (parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)).timestamp()


def _raw_job(number: int) -> "dict[str, Any] | None":
    """Return the job of scontrol; None for an unknown job (Slurm deletes jobs some minutes after their end)."""
    from landbridge.burst.slurm.slurm import SlurmError, run_json

    try:
        raw: list[dict[str, Any]] = run_json(["scontrol", "show", "job", str(number), "--json"]).get("jobs") or []
    except SlurmError as error:
        if "Invalid job id" in str(error):
            return None
        raise
    return raw[0] if raw else None


def _job(raw: "dict[str, Any] | None") -> "SlurmJob | None":
    from landbridge.burst.slurm.slurm_json import job_of

    return job_of(raw) if raw is not None else None


def _status(rows: "list[NodeStatus]", pools: "list[PoolStatus]", *, complete: bool) -> None:
    if complete and not rows:
        typer.echo("no instance runs, and no cloud node is up")
    for row in rows:
        instance_text = f"{row.instance or '-':20} {row.state or '-':9} {row.address or '-':15}"
        jobs, text = ",".join(map(str, row.jobs)) or "-", "; ".join(filter(None, (row.remark, row.notice)))
        typer.echo(f"{row.node or '-':12} {instance_text} job {jobs:6} {row.slurm}  {text}".rstrip())
    for pool in pools:
        words = f"pool {pool.name}: {pool.instances} of {pool.max_nodes} instances"
        typer.echo(f"{words}, {pool.spent_usd:,.2f} USD spent this month, {pool.held_usd:,.2f} held")
        if pool.drained is not None:
            typer.echo(f"  drained: {pool.drained}")
        if pool.breaker is not None:
            typer.echo(f"  stopped until {pool.breaker_until}: {pool.breaker}")
        for dry in pool.dry:
            typer.echo(f"  {dry.offering} is not tried again before {dry.until}: {dry.code}")


def _line(record: "DecisionRecord") -> str:
    from landbridge.hostlist import compress
    from landbridge.timestamps import iso

    jobs = f"job {','.join(map(str, record.jobs))}" if record.jobs else ""
    money = f"{record.usd:,.2f} USD" if record.usd is not None else ""
    nodes = compress(record.nodes) if record.nodes else ""
    words = (iso(record.at), record.event, record.pool, jobs, nodes, record.code, record.text, money)
    return "  ".join(word for word in words if word)
