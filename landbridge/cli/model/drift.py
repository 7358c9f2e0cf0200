"""Command `landbridge model drift`: judgement of a window of a served model, and the trigger of its retraining."""

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import Format, print_json

if TYPE_CHECKING:
    from landbridge.models.drift.judge import DriftReport

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(model: typer.Typer) -> None:
    """Add the command."""
    model.command()(drift)


def drift(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="model.json of the served version.")],
    metrics: Annotated[
        list[Path], typer.Option("--metrics", metavar="FILE", help="Metrics of its servers at the end of the window.")
    ],
    before: Annotated[
        list[Path] | None,
        typer.Option("--before", metavar="FILE", help="Metrics of its servers at the start of the window."),
    ] = None,
    gauges: Annotated[
        Path | None,
        typer.Option(
            "--gauges", metavar="FILE", help="Write metrics to this file, for node exporter's textfile collector."
        ),
    ] = None,
    trigger: Annotated[
        Path | None,
        typer.Option("--trigger", metavar="FILE", help="Write the trigger of a pipeline if there is drift."),
    ] = None,
    form: Form = Format.TEXT,
) -> None:
    """Judge the drift of a served model's window.

    Features and confidence are compared with the reference in the manifest. Exit status 1 if there is drift, 2 if nothing could be judged. Example: landbridge model
    drift model.json --before 09.prom --metrics 10.prom
    """
    from landbridge.models.drift.reference import parse_reference
    from landbridge.models.drift.retraining import trigger_record
    from landbridge.serving.canary_controller.exposition import samples
    from landbridge.serving.canary_controller.windows import judged_window

    try:
        data = json.loads(manifest.read_text())
        model, version = str(data["name"]), str(data.get("version", ""))
        reference = parse_reference(data["reference"])
        ends, starts = [path.read_text() for path in metrics], [path.read_text() for path in before or ()]
    except (OSError, KeyError, TypeError, ValueError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    report = judged_window(reference, samples("\n".join(ends)), samples("\n".join(starts)), version)
    if gauges is not None and not report.is_empty:
        from landbridge.models.drift.gauges import gauge_text

        write_whole(gauges, gauge_text(report, model, version, time.time()))
    if trigger is not None and report.reason:
        write_whole(trigger, trigger_record(model, version, time.time(), report.reason))
    if form is Format.JSON:
        print_json(_as_data(report))
    else:
        for each in report.features:
            typer.echo(
                f"{each.slice:<16} {each.feature:<24} PSI {each.psi:6.3f}  KS {each.ks:.3f}  {'drifted' if each.drifted else ''}".rstrip()
            )
        for slice_name, feature in report.unjudged:
            typer.echo(f"{slice_name:<16} {feature:<24} too few values, or other bins than the reference")
        if report.accuracy is not None:
            typer.echo(
                f"estimated accuracy {report.accuracy:.1%}, in the reference {report.expected_accuracy or 0:.1%}"
            )
    if report.is_empty:
        typer.echo("landbridge: nothing could be judged: the window has too few values, or other bins", err=True)
        raise typer.Exit(2)
    raise typer.Exit(1 if report.reason else 0)


def _as_data(report: "DriftReport") -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(report), "reason": report.reason}


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: readers get the old or the new content."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text)
    new.replace(path)
