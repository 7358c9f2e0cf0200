"""Command `landbridge sagemaker submit`: a batch job of Slurm as a training job."""

import getpass
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json, require, stack_outputs
from landbridge.cli.sagemaker.common import ConfigFile, Form, connect, refusals

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.plan.outputs import StackOutputs
    from landbridge.plan.training.request import TrainingRequest


class Where(StrEnum):
    """Place of a submission."""

    SAGEMAKER = "sagemaker"
    AUTO = "auto"


JobScript = Annotated[Path, typer.Argument(metavar="JOBFILE", exists=True, dir_okay=False, help="Job file of sbatch.")]
Outputs = Annotated[
    Path | None, typer.Option("--outputs", metavar="FILE", help="Stack outputs; default: those of `landbridge up`.")
]
Key = Annotated[str, typer.Option("--key", help="Submission key: the same file and key are the same job.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the request, and submit nothing.")]
Kind = Annotated[
    str | None, typer.Option("--instance-type", metavar="TYPE", help="Default: the cheapest one with the job's GPUs.")
]
Spot = Annotated[bool, typer.Option("--spot", help="Use managed spot training.")]
MaxWait = Annotated[
    int | None,
    typer.Option("--max-wait", metavar="MINUTES", min=1, help="With --spot: wait and run together; default: twice the time limit."),
]  # fmt: skip
Channel = Annotated[
    list[str] | None,
    typer.Option("--channel", metavar="NAME=PREFIX", help="Prefix in the bucket of the class, in /opt/ml/input/data/NAME."),
]  # fmt: skip
Image = Annotated[
    str | None, typer.Option("--image", help="Container image by digest; default: --container-image of the job file.")
]
Place = Annotated[
    Where,
    typer.Option("--where", help="sagemaker, or auto: the cheapest place that the policy permits, Slurm included."),
]
Wait = Annotated[
    float | None,
    typer.Option("--wait", min=0, help="With --where auto: hours until on-prem nodes are free; default: Slurm's estimate."),
]  # fmt: skip
User = Annotated[str | None, typer.Option("--user", help="User of the account; default: the user of this process.")]


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(submit)


def submit(
    job_file: JobScript,
    stack: Stack = None,
    file: File = None,
    outputs: Outputs = None,
    key: Key = "1",
    dry_run: DryRun = False,
    instance_type: Kind = None,
    spot: Spot = False,
    max_wait: MaxWait = None,
    channel: Channel = None,
    image: Image = None,
    user: User = None,
    where: Place = Where.SAGEMAKER,
    wait: Wait = None,
    config: ConfigFile = None,
    form: Form = Format.TEXT,
) -> None:
    """Submit a job file as a training job of SageMaker.

    The policy and the budget of the cluster hold: the cost of the whole time limit is held in the controller's journal before the
    job exists. Runs on the controller. A second submission of the same file, user and key creates nothing.

    With --where auto the job goes where `place explain` ranks it first: to SageMaker, or to Slurm with sbatch. It prints the reasons.

    Exit status: 0, 1 if it is refused, 2 if AWS or the journal did not answer. Example: landbridge sagemaker submit train.sh -s acme
    """
    from dataclasses import replace

    from landbridge.plan.training.batch_job import image_name, parse_batch_job
    from landbridge.plan.training.request import TrainingOptions, training_request

    environment = require(stack, file)
    job = parse_batch_job(job_file.read_text())
    if isinstance(job, list):
        print_findings(finding.at(str(job_file), finding.line, None) for finding in job)
        raise typer.Exit(1)
    options = TrainingOptions(
        user=user or getpass.getuser(),
        key=key,
        instance_type=instance_type,
        spot=spot,
        wait_seconds=None if max_wait is None else max_wait * 60,
        channels=dict(_channel(text) for text in channel or ()),
    )
    job = job if image is None else replace(job, image=image_name(image))
    if where is Where.AUTO:
        from landbridge.cli.sagemaker.where import submit_elsewhere

        findings = training_request(environment, _outputs(environment, outputs), job, options)
        faults = tuple(findings) if isinstance(findings, list) else ()
        if submit_elsewhere(environment, job_file, job, options, faults, wait, config, dry_run=dry_run, form=form):
            return
    request = training_request(environment, _outputs(environment, outputs), job, options)
    if isinstance(request, list):
        print_findings(finding.at(str(job_file), finding.line, None) for finding in request)
        raise typer.Exit(1)
    if dry_run:
        print_json(dict(request.parameters))
        return
    _submit(environment, request, job.wckey, config, form)


def _submit(
    environment: "Environment", request: "TrainingRequest", wckey: str, config: Path | None, form: Format
) -> None:
    from landbridge.burst.model import TrainingJob
    from landbridge.burst.operator import training_jobs
    from landbridge.cli.burst.common import controller

    instance = request.instance
    job = TrainingJob(
        name=request.name,
        account=request.account,
        user=request.user,
        data_class=request.data_class,
        instance_type=instance.name,
        nodes=request.nodes,
        usd_hour=instance.usd_hour,
        seconds=request.seconds,
        created_at=time.time(),
        spot=request.spot,
    )
    with controller(config) as (burst_config, store), refusals(instance.quota):
        submission = training_jobs.submit(
            store, burst_config.policy, job, request.parameters, lambda: connect(environment), wckey
        )
    known = submission.job
    if form is Format.JSON:
        print_json({"name": known.name, "new": submission.is_new, "status": known.status, "held_usd": known.held_usd})
    elif submission.is_new:
        typer.echo(f"{known.name}: {known.nodes} x {known.instance_type}, at most {known.held_usd:,.2f} USD")
    else:
        typer.echo(f"{known.name}: submitted already ({known.status}); another --key submits it again")
    if submission.warning is not None:
        typer.echo(f"warning: {submission.warning}", err=True)


def _outputs(environment: "Environment", file: Path | None) -> "StackOutputs | None":
    from landbridge.findings import Finding
    from landbridge.plan.outputs import StackOutputs

    if file is None:
        return stack_outputs(environment)
    try:
        return StackOutputs.model_validate_json(file.read_text())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it has no stack outputs"
        print_findings([Finding("training-outputs", f"{file}: {reason}")])
        raise typer.Exit(2) from None


def _channel(text: str) -> tuple[str, str]:
    name, _, prefix = text.partition("=")
    return name, prefix
