"""Option `--where auto` of `landbridge sagemaker submit`: the place of a job file by the placement, and its submission to Slurm."""

import getpass
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from landbridge.cli.common import Format, print_findings, print_json
from landbridge.findings import Finding

if TYPE_CHECKING:
    from landbridge.burst.slurm.submission import StartEstimate
    from landbridge.environment import Environment
    from landbridge.plan.placement.evaluate import PlacementDecision
    from landbridge.plan.placement.job import SiteState
    from landbridge.plan.training.batch_job import BatchJob
    from landbridge.plan.training.request import TrainingOptions

#: A start within this time is now: slurmctld's estimates are those of its last pass.
_NOW_SECONDS = 60


def submit_elsewhere(
    environment: "Environment",
    job_file: Path,
    job: "BatchJob",
    options: "TrainingOptions",
    faults: Sequence[Finding],
    wait: float | None,
    config: Path | None,
    *,
    dry_run: bool,
    form: Format,
) -> bool:
    """Submit a job file to Slurm if that is its place; return false if it is SageMaker, or if the job is there already.

    `faults`: reasons why the file is not a training job.
    """
    from dataclasses import replace

    from landbridge.burst.operator.training_jobs import left_usd
    from landbridge.burst.slurm.slurm import SlurmError
    from landbridge.burst.slurm.submission import estimate, submit_file, submitted
    from landbridge.cli.burst.common import controller
    from landbridge.plan.placement.destinations import SAGEMAKER, destinations_of
    from landbridge.plan.placement.evaluate import place_job
    from landbridge.plan.training.destinations import batch_placement, training_destinations
    from landbridge.plan.training.request import training_name

    name, placed = training_name(environment.name, job, options), batch_placement(job)
    with controller(config) as (burst_config, store):
        if name in store.load().training_jobs:
            return False
        known = submitted(name)
        if known is not None:
            _answer(
                form, name, known, f"{name}: submitted already (job {known} of Slurm); another --key submits it again"
            )
            return True
        try:
            start, refusal = estimate(job_file), ""
        except SlurmError as error:
            start, refusal = None, str(error)
        state = site_state(environment, job, start, wait, time.time())
        left = left_usd(store, burst_config.policy, job.account, time.time())
        places = (
            *destinations_of(environment),
            *training_destinations(environment, placed, job, options.instance_type),
        )
        decision = place_job(environment, placed, replace(state, left_usd=left), places)
        _explain(decision, refusal)
        for fault in faults:
            typer.echo(f"not SageMaker: {fault.message}", err=True)
        ranked = [
            each.destination for each in decision.ranked if not faults or each.destination.instrument != SAGEMAKER
        ]
        best = next((each for each in ranked if not refusal or each.instrument == SAGEMAKER), None)
        if best is None:
            print_findings(
                [Finding("training-place", "no destination is possible for the job", fix="landbridge place explain")]
            )
            raise typer.Exit(1)
        if best.instrument == SAGEMAKER:
            return False
        if options.user != getpass.getuser():
            fix = f"{options.user} submits it: sbatch {job_file}"
            print_findings(
                [
                    Finding(
                        "training-place",
                        f"the cheapest destination is {best.name}, where the user submits the job",
                        fix=fix,
                    )
                ]
            )
            raise typer.Exit(1)
        if dry_run:
            _answer(form, name, None, f"{name}: {best.name}, with sbatch {job_file}")
            return True
        number = submit_file(job_file, name, job.comment)
        _answer(form, name, number, f"{name}: job {number} of Slurm, {best.name}")
        return True


def site_state(
    environment: "Environment", job: "BatchJob", start: "StartEstimate | None", wait: float | None, now: float
) -> "SiteState":
    """Return the state of the site by Slurm's estimate for the job.

    If Slurm has none for nodes on-prem, and `wait` is not given, a job of the same length is before it.
    """
    from landbridge.plan.placement.job import SiteState
    from landbridge.plan.slurm.nodes import onprem_nodes

    names = {name for nodes in onprem_nodes(environment) for name in nodes.names}
    if wait is None and start is not None and names.issuperset(start.nodes):
        seconds = max(0.0, start.at - now)
        return SiteState() if seconds < _NOW_SECONDS else SiteState(idle_gpus=0, wait_hours=seconds / 3600)
    return SiteState(idle_gpus=0, wait_hours=job.seconds / 3600 if wait is None else wait)


def _explain(decision: "PlacementDecision", refusal: str) -> None:
    """Print the places to standard error: standard output is the answer."""
    if refusal:
        typer.echo(f"Slurm refuses the job: {refusal}", err=True)
    for ranked in decision.ranked:
        usd = ranked.cost.usd
        price = "cost not known" if usd is None else f"{usd:,.2f} USD"
        typer.echo(f"{ranked.destination.name}: {price}, starts after {ranked.timing.start_hours:.2f} h", err=True)
    for rejected in decision.rejected:
        reasons = "; ".join(each.text for each in rejected.refusals)
        typer.echo(f"not {rejected.destination.name}: {reasons}", err=True)


def _answer(form: Format, name: str, number: int | None, text: str) -> None:
    if form is Format.JSON:
        print_json({"name": name, "job": number})
    else:
        typer.echo(text)
