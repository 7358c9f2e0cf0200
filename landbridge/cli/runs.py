"""Command `landbridge runs upload`: runs that were recorded without a tracking server."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require

Source = Annotated[Path, typer.Argument(metavar="STORE", exists=True, help="File mlflow.db, or folder mlruns.")]
Target = Annotated[str, typer.Option("--to", metavar="URI", envvar="MLFLOW_TRACKING_URI", help="MLflow server.")]
DataClass = Annotated[
    str | None,
    typer.Option("--class", metavar="CLASS", help="Data class of runs without the tag landbridge.data_class."),
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    runs = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Upload runs that were recorded without MLflow."
    )
    runs.callback()(lambda: None)
    runs.command()(upload)
    app.add_typer(runs, name="runs")


def upload(
    store: Source,
    to: Target,
    stack: Stack = None,
    file: File = None,
    data_class: DataClass = None,
    form: Form = Format.TEXT,
) -> None:
    """Upload the ended runs of a local store, each one once.

    A job without a network records with MLFLOW_TRACKING_URI=sqlite:///mlflow.db. The runs go to the server in the order of their starts, with their
    times, metrics, parameters, tags and artifacts. A repeated or killed upload continues. A run whose data class may not be at the
    server is refused. The account is in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, the CA in MLFLOW_TRACKING_SERVER_CERT_PATH.
    Exit status: 0, 1 if a run is refused, 2 if a server did not answer.
    Example: landbridge runs upload mlflow.db --to https://mlops01:5000 -s acme --class internal
    """
    from landbridge.live.offline_runs import OfflineRuns, UploadError, only_upload, refused
    from landbridge.plan.network.services.model_registries import registry_classes

    environment = require(stack, file)
    classes = registry_classes(environment, to)
    source = f"sqlite:///{store.resolve()}" if store.is_file() else store.resolve().as_uri()
    uploaded: dict[str, str] = {}
    present: list[str] = []
    try:
        with ExitStack() as held:
            held.enter_context(only_upload(store.resolve().parent))
            runs = OfflineRuns(source, to)
            recorded = runs.recorded()
            reasons = refused([run for run in recorded if run.has_ended], data_class, classes)
            for run in recorded:
                if not run.has_ended or run.id in reasons:
                    continue
                identity = runs.upload(run)
                if identity is None:
                    present.append(run.id)
                    continue
                uploaded[run.id] = identity
                if form is Format.TEXT:
                    typer.echo(f"{run.experiment} {run.name or run.id}: uploaded as {identity}")
    except (UploadError, OSError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    unfinished = [run.id for run in recorded if not run.has_ended]
    if form is Format.JSON:
        print_json({"uploaded": uploaded, "present": present, "unfinished": unfinished, "refused": dict(reasons)})
    else:
        for identity, reason in reasons.items():
            typer.echo(f"{identity}: refused: {reason}", err=True)
        typer.echo(
            f"{len(uploaded)} uploaded, {len(present)} there already, {len(unfinished)} not ended, {len(reasons)} refused"
        )
    raise typer.Exit(1 if reasons else 0)
