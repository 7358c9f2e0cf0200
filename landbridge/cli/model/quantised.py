"""Commands `landbridge model quantise` and `compare`: INT8 weights, and the gate that compares them with the original."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from landbridge.cli.common import Format, print_json

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Model folder.")]
Rows = Annotated[
    Path, typer.Option("--rows", metavar="FILE", help="Rows as .npz: an array for each input, and labels.")
]
Requests = Annotated[int, typer.Option("--requests", min=20, help="Requests of one row for each version.")]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads of a session.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(model: typer.Typer) -> None:
    """Add the commands."""
    model.command()(quantise)
    model.command()(compare)


def quantise(
    folder: Folder,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="New model folder.")],
    calibration: Annotated[
        Path | None, typer.Option("--calibration", metavar="FILE", help="Rows as .npz: ranges of activations (static).")
    ] = None,
) -> None:
    """Write a model folder with INT8 weights.

    It has neither version nor signature: compare it, and register it as a new version. Example: landbridge model quantise digits/3
    digits-int8
    """
    from landbridge.models.quantising.folders import QuantiseError
    from landbridge.models.quantising.folders import quantise as quantised

    try:
        manifest = quantised(folder, output, calibration)
    except (QuantiseError, OSError) as error:
        _refuse(error)
    before = (folder / "model.onnx").stat().st_size
    typer.echo(f"wrote {output}: {manifest['files']['model.onnx']['bytes']} bytes instead of {before}")


def compare(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="Model folder.")],
    smaller: Annotated[Path, typer.Argument(metavar="SMALLER", help="Model folder of the smaller version.")],
    rows: Rows,
    requests: Requests = 500,
    threads: Threads = 1,
    usd_hour: Annotated[float | None, typer.Option("--usd-hour", min=0, help="Price of an hour of one worker.")] = None,
    form: Form = Format.TEXT,
) -> None:
    """Compare a smaller version with its original.

    Accuracy, latency, memory, size and the cost of 1,000 predictions, measured in one run with requests in turn. Exit status 1 if a
    bound of the catalogue does not hold. Example: landbridge model compare digits/3 digits-int8 --rows test.npz --usd-hour 0.09
    """
    from landbridge.catalog.models.canary import canary_facts
    from landbridge.models.quantising.folders import QuantiseError
    from landbridge.models.quantising.measure import measured
    from landbridge.models.sizing.comparison import ComparisonBounds, compared

    limits = {name: fact.value for name, fact in canary_facts().quantised.items()}
    try:
        first, second = measured([original, smaller], rows, requests, threads)
    except (QuantiseError, OSError) as error:
        _refuse(error)
    values = compared(first, second, ComparisonBounds(**limits), usd_hour)
    passed = all(value.passed for value in values)
    if form is Format.JSON:
        table = [
            {
                "name": each.name,
                "original": each.original,
                "smaller": each.smaller,
                "judged": each.judged,
                "bound": each.bound,
                "passed": each.passed,
            }
            for each in values
        ]
        print_json({"passed": passed, "values": table})
    else:
        typer.echo(f"{'value':<22}{'original':>14}{'smaller':>14}{'judged':>10}{'bound':>8}")
        for each in values:
            bound = "" if each.bound is None else f"{each.bound:g}"
            verdict = "" if each.passed else "  above its bound"
            typer.echo(
                f"{each.name:<22}{each.original:>14.6g}{each.smaller:>14.6g}{each.judged:>10.3f}{bound:>8}{verdict}"
            )
    raise typer.Exit(0 if passed else 1)


def _refuse(error: Exception) -> NoReturn:
    typer.echo(f"landbridge: {error}", err=True)
    raise typer.Exit(2) from None
