"""Command `landbridge impact`: effect of a planned change on jobs and data."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Layer, Stack, environment_path, print_json, require

if TYPE_CHECKING:
    from landbridge.ops.impact import ImpactReport

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Lose = Annotated[
    list[str] | None,
    typer.Option(
        "--lose", metavar="NAME", help="Resource whose data may be lost: a URN, TYPE::NAME, or a name. Repeatable."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(impact)


def impact(
    stack: Stack = None, file: File = None, lose: Lose = None, layer: Layer = None, form: Form = Format.TEXT
) -> None:
    """Show the effect of `up` on running jobs and on data. Lists the actions to take first; changes nothing.

    Exit status: 0 no data is lost except that of --lose; 1 other data would be lost, or AWS or Pulumi refuses the change.
    """
    from landbridge.ops.impact import report

    environment = require(stack, file)
    ahead, refusal = _preview(stack, file, environment, layer and layer.value)
    impact_report = report(ahead, lose or ())
    if form is Format.JSON:
        print_json(
            {
                "environment": environment.name,
                "worst": impact_report.worst.value,
                "impacts": [impact.to_dict() for impact in impact_report.impacts],
                "unnamed": [step.urn for step in impact_report.unnamed],
                "unknown": list(impact_report.unknown),
                "complete": refusal is None,
                "pulumi": refusal,
            }
        )
    else:
        show(impact_report)
    if refusal:
        typer.echo(f"error: Pulumi stopped at this error, so further changes may follow: {refusal}", err=True)
    raise typer.Exit(1 if refused(impact_report) or refusal else 0)


def show(impact_report: "ImpactReport") -> None:
    """Print a report as text, worst effect first."""
    from landbridge.cli.display.impact import print_report

    print_report(impact_report)


def refused(impact_report: "ImpactReport") -> bool:
    """Print changes that AWS refuses, data losses without --lose and unknown --lose options on standard error; return
    true if there are any."""
    for impact_ in impact_report.refused_by_aws:
        typer.echo(f"error: {impact_.type}::{impact_.name}: {impact_.why}", err=True)
    for impact_ in impact_report.unnamed:
        typer.echo(
            f"error: {impact_.type}::{impact_.name} would lose {impact_.holds}: "
            f"to accept this, give --lose {impact_.type}::{impact_.name}",
            err=True,
        )
    for word in impact_report.unknown:
        typer.echo(f"error: --lose {word}: no resource of this name, or more than one, would lose data", err=True)
    return impact_report.refused or bool(impact_report.unknown)


def _preview(stack: str | None, file: Any, environment: Any, layer: Any) -> tuple[Any, str | None]:
    """Return the engine's preview, and its message if it refuses (it does not change protected resources)."""
    from landbridge.cli.display.stack import StackDisplay
    from landbridge.realise import pulumi

    with StackDisplay("preview", environment.name, quiet=True) as display:
        try:
            return pulumi.preview(environment, environment_path(stack, file), display, layer=layer).ahead, None
        except pulumi.PulumiFailed as error:
            return error.ahead, str(error)
