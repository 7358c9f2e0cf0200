"""Command `landbridge place explain`: destinations of a job by cost, and the reasons against the others."""

import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json, require
from landbridge.findings import Finding

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.environment.base import Site
    from landbridge.plan.placement.evaluate import PlacementDecision, RankedDestination
    from landbridge.plan.placement.job import MeasuredStaging, PlacementJob

JobPath = Annotated[Path | None, typer.Argument(metavar="JOB.yaml", help="Job file.")]
JobNumber = Annotated[
    int | None,
    typer.Option(
        "--job", metavar="ID", help="Id of a Slurm job instead of a job file; read with scontrol on this host."
    ),
]
JobJson = Annotated[
    Path | None,
    typer.Option("--job-json", metavar="FILE", help="Output of `scontrol show job ID --json` instead; -: stdin."),
]
Idle = Annotated[int | None, typer.Option("--idle", min=0, help="Idle GPUs on-prem; default: all are idle.")]
Wait = Annotated[
    float | None,
    typer.Option("--wait", min=0, help="Hours that a job waits on-prem if it does not fit into the idle GPUs."),
]
Exchange = Annotated[
    Path | None,
    typer.Option("--exchange", metavar="FOLDER", help="Exchange of controller and mover; default: that of this host."),
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


def explain(
    job_file: JobPath = None,
    stack: Stack = None,
    file: File = None,
    job: JobNumber = None,
    job_json: JobJson = None,
    idle: Idle = None,
    wait: Wait = None,
    exchange: Exchange = None,
    form: Form = Format.TEXT,
) -> None:
    """Explain where a job may run, and where it costs least. Prints each destination with its cost, or the reasons against it.

    SageMaker is one of them with the key `mlops.sagemaker`: the cheapest instance type with a known price. On the controller's host the budget is
    what the journal leaves.

    Of a job of Slurm that states data it counts what the mover has reported: bytes that are left, time at the measured rate, and price.

    Exit status 1 if the job file has findings, or if no destination is possible. Example: landbridge place explain job.yaml -s
    hybrid --idle 8 --wait 6
    """
    from landbridge.cli.place.training import left_on_host
    from landbridge.plan.placement.destinations import destinations_of
    from landbridge.plan.placement.evaluate import place_job
    from landbridge.plan.placement.job import SiteState
    from landbridge.plan.placement.job_file import read_job
    from landbridge.plan.training.destinations import training_destinations

    if sum(source is not None for source in (job_file, job, job_json)) != 1:
        raise typer.BadParameter("give one of JOB.yaml, --job ID and --job-json FILE")
    environment = require(stack, file)
    if job_file is not None:
        request, findings = read_job(_bytes(job_file), str(job_file), environment)
        state = SiteState(idle, wait or 0.0)
    else:
        request, expected_wait, findings = _slurm_job(job, job_json)
        known_wait = wait if wait is not None else expected_wait
        # A pending job has no idle GPUs: Slurm would have started it.
        idle_gpus = idle if idle is not None or known_wait is None else 0
        state = SiteState(idle_gpus, known_wait or 0.0, staging=_staging(request, environment, exchange))
    if request is None:
        if form is Format.JSON:
            print_json({"findings": [finding.to_dict() for finding in findings]})
        else:
            print_findings(findings)
        raise typer.Exit(1)
    state = replace(state, left_usd=left_on_host(request.account))
    places = (*destinations_of(environment), *training_destinations(environment, request))
    decision = place_job(environment, request, state, places)
    if form is Format.JSON:
        print_json(decision_data(decision))
    else:
        _text(request, decision, state.idle_gpus, state.wait_hours)
    raise typer.Exit(0 if decision.ranked else 1)


def decision_data(decision: "PlacementDecision") -> dict[str, Any]:
    """Return a decision as plain data, for `--format json`."""
    return {
        "class": decision.workload,
        "staffing": decision.staffing or None,
        "destinations": [
            {
                "destination": ranked.destination.name,
                "site": ranked.destination.site,
                "region": ranked.destination.region or None,
                "instrument": ranked.destination.instrument,
                "usd": ranked.cost.usd,
                "parts": [asdict(part) for part in ranked.cost.parts],
                "start_hours": ranked.timing.start_hours,
                "end_hours": ranked.timing.end_hours,
                "staged_gb": ranked.timing.staged_gb,
                "obligations": list(ranked.obligations),
            }
            for ranked in decision.ranked
        ],
        "rejected": [
            {"destination": rejected.destination.name, "reasons": [asdict(refusal) for refusal in rejected.refusals]}
            for rejected in decision.rejected
        ],
    }


def _text(job: "PlacementJob", decision: "PlacementDecision", idle: int | None, wait: float) -> None:
    echo = typer.echo
    state = "all GPUs on-prem are idle" if idle is None else f"{idle} GPUs on-prem are idle, else a wait of {wait:g} h"
    echo(
        f"job of {job.account or '(no account)'}: {job.gpus} GPUs, {job.hours:g} h, class {decision.workload}; {state}"
    )
    if decision.staffing:
        echo(f"staffing: {decision.staffing}")
    for number, ranked in enumerate(decision.ranked, start=1):
        _ranked(number, ranked)
    if decision.rejected:
        echo("\nnot possible:")
    for rejected in decision.rejected:
        for position, refusal in enumerate(rejected.refusals):
            echo(f"  {rejected.destination.name if not position else '':30} {refusal.filter}: {refusal.text}")
            echo(f"  {'':30} ({refusal.citation})")
    if not decision.ranked:
        echo("\nno destination in this environment is possible for the job")


def _ranked(number: int, ranked: "RankedDestination") -> None:
    usd = ranked.cost.usd
    price = "cost not known" if usd is None else f"{usd:,.2f} USD"
    times = f"starts after {ranked.timing.start_hours:.2f} h"
    typer.echo(f"\n{number}. {ranked.destination.name:30} {price:>18}, {times}")
    for part in ranked.cost.parts:
        amount = "not known" if part.usd is None else f"{part.usd:,.2f}"
        typer.echo(f"   {part.name:10} {amount:>12}  {part.basis}")
    if ranked.obligations:
        typer.echo(f"   only if: {'; '.join(ranked.obligations)}")


def _staging(
    request: "PlacementJob | None", environment: "Environment", exchange: Path | None
) -> "dict[Site, MeasuredStaging]":
    """Return what the mover has reported about the job's data; empty without an exchange on this host."""
    from landbridge.cli.data.status import exchange_of_host
    from landbridge.cli.place.slurm_job import stated_staging
    from landbridge.staging.exchange import read_reports

    folder = exchange or exchange_of_host()
    if request is None or folder is None:
        return {}
    account = environment.scheduler.accounts.get(request.account)
    return stated_staging(request, account.data_class if account is not None else "", read_reports(folder))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        typer.echo(f"landbridge: {path}: {error.strerror}", err=True)
        raise typer.Exit(2) from None


def _slurm_job(
    number: int | None, path: Path | None
) -> tuple["PlacementJob | None", float | None, tuple[Finding, ...]]:
    """Return a job of Slurm and its expected wait in hours, from `scontrol show job --json`."""
    from landbridge.burst.slurm.slurm import SlurmError, run_json
    from landbridge.cli.place.slurm_job import SlurmJobError, deadline_hours, expected_wait, placement_job

    try:
        if path is not None:
            text = typer.get_text_stream("stdin").read() if str(path) == "-" else _bytes(path).decode()
            raw = json.loads(text)
        else:
            raw = run_json(["scontrol", "show", "job", str(number), "--json"])
        now = time.time()
        request = replace(placement_job(raw), deadline_hours=deadline_hours(raw, now))
        return request, expected_wait(raw, now), ()
    except (SlurmError, OSError, UnicodeDecodeError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    except (SlurmJobError, json.JSONDecodeError) as error:
        return None, None, (Finding("unreadable-job", str(error), file=str(path) if path is not None else None),)
