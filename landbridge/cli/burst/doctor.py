"""Command `landbridge burst doctor`: test the burst controller of this host."""

import typer

from landbridge.cli.burst.common import ConfigFile, Form
from landbridge.cli.common import Format, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(config: ConfigFile = None, form: Form = Format.TEXT) -> None:
    """Test the controller. It reads settings, journal, daemon, AWS, clock and Slurm. Exit status 1 if a test fails.

    Example: sudo landbridge burst doctor
    """
    from landbridge.burst.operator.doctor import diagnose
    from landbridge.cli.common import print_findings
    from landbridge.findings import Severity

    diagnosis = diagnose(config)
    if form is Format.JSON:
        print_json([finding.to_dict() for finding in diagnosis])
    else:
        print_findings(diagnosis)
        if not diagnosis:
            typer.echo("nothing is wrong")
    raise typer.Exit(1 if any(finding.severity is not Severity.INFO for finding in diagnosis) else 0)
