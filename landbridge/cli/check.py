"""`landbridge check`: everything that is wrong with an environment, at once."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, exit_code, print_findings, print_json
from landbridge.findings import Finding, FindingsError, Severity

Form = Annotated[Format, typer.Option("--format", help="How to print: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)


def check(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Check an environment file without a network. Exit status: 0 good, 1 errors, 2 nothing to check."""
    from landbridge.environment import load_environment
    from landbridge.rules import check as run

    name = stack or "?"
    try:
        loaded = load_environment(environment_path(stack, file))
        findings = run(loaded)
        name = loaded.path.name.removeprefix("Pulumi.").removesuffix(".yaml")
    except FindingsError as error:
        findings = error.findings
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if form is Format.JSON:
        found = [finding.to_dict() for finding in findings]
        print_json({"environment": name, "errors": errors, "warnings": len(findings) - errors, "findings": found})
    else:
        print_findings(findings)
        typer.echo(f"{name}: {_summary(findings, errors)}")
    raise typer.Exit(exit_code(findings))


def _summary(findings: tuple[Finding, ...], errors: int) -> str:
    warnings = len(findings) - errors
    if not findings:
        return "no findings"
    parts = [f"{errors} error{'s' * (errors != 1)}"] if errors else ["no errors"]
    return ", ".join([*parts, *([f"{warnings} warning{'s' * (warnings != 1)}"] if warnings else [])])
