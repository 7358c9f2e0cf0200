"""Command `landbridge drill site-loss`: copies of what a site holds, and the steps to a control plane in AWS."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.residency.common import checked

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("site-loss")(site_loss)


def site_loss(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Print what a site's loss would destroy, where its copies are, and the steps to a control plane in AWS.

    An asset without a copy outside the site is a finding. The recovery point is computed from the timers of the dumps, and the recovery time is the sum of the steps that the lab has measured. Makes no network call and
    changes nothing. Exit status: 0 every asset that a recovery needs has a copy, 1 one has none, 2 could not run.
    Example: landbridge drill site-loss -s hybrid
    """
    from landbridge.cli.display.excerpt import print_with_lines
    from landbridge.findings import has_errors
    from landbridge.ops.site_loss import site_loss as drill_of

    loaded, environment = checked(stack, file)
    drill = drill_of(environment)
    findings = tuple(map(loaded.place, drill.findings()))
    status = 1 if has_errors(findings) else 0
    if form is Format.JSON:
        listed = [finding.to_dict() for finding in findings]
        print_json({"environment": environment.name, **drill.to_dict(), "findings": listed})
        raise typer.Exit(status)
    if not drill.assets:
        typer.echo(f"{environment.name} has no services on-prem: docs/explanation/services.md has its recovery")
        raise typer.Exit(0)
    print_with_lines(findings, loaded.path)
    for asset in drill.assets:
        hours = f", at most {asset.lost_hours:g} h are lost" if asset.lost_hours else ""
        copy = f"{asset.copy.place}{'' if asset.copy.locked else ' (not locked)'}{hours}" if asset.copy else "no copy"
        typer.echo(f"{asset.name}: {copy}")
    typer.echo("")
    for number, step in enumerate(drill.steps, start=1):
        duration = f" [{step.seconds:g} s in the lab]" if step.seconds is not None else ""
        typer.echo(f"{number}. {step.text}{duration}\n   {step.command}")
    unmeasured = sum(step.seconds is None for step in drill.steps)
    typer.echo(
        f"recovery point {drill.lost_hours:g} h; recovery time {drill.measured_seconds:g} s measured, "
        f"{unmeasured} steps not measured"
    )
    raise typer.Exit(status)
