"""Command `landbridge serve check`."""

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json, require
from landbridge.cli.serve.gateway_program import ask
from landbridge.cli.serve.weights import Form
from landbridge.findings import Severity


def register(serve: typer.Typer) -> None:
    """Add the command."""
    serve.command("check")(check_services)


def check_services(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Check that each service has its model servers.

    Exit status 1 if a service has no model server that answers, and 2 without an answer of the gateway. Example: landbridge serve check -s hybrid
    --format json
    """
    from landbridge.plan.network.services.serving import serving_of
    from landbridge.plan.serving.gateway_state import state_findings

    environment = require(stack, file)
    serving = serving_of(environment)
    answer = ask(environment, ["list"])
    findings = list(state_findings(tuple(serving.services) if serving is not None else (), answer))
    if form is Format.JSON:
        print_json({**answer, "findings": [finding.to_dict() for finding in findings]})
    else:
        print_findings(findings)
        if not findings:
            typer.echo("every service has its model servers")
    raise typer.Exit(1 if any(finding.severity is Severity.ERROR for finding in findings) else 0)
