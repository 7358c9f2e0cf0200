"""Command `landbridge residency attempts`: which layers refuse each attempt to bring on-prem data into AWS."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.residency.common import checked

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(attempts)


def attempts(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Print the layers that refuse each attempt to move data.

    The class is the first one with an account that must stay on-prem. A layer in parentheses is not in the environment. Makes no network call. Exit status: 0 each
    attempt is refused, 1 one is not, 2 could not run.
    Example: landbridge residency attempts -s hybrid
    """
    from landbridge.cli.display.excerpt import print_with_lines
    from landbridge.findings import has_errors
    from landbridge.ops.residency.attempts import evaluate_attempts
    from landbridge.ops.residency.compiled import compiled_forms

    loaded, environment = checked(stack, file)
    results = evaluate_attempts(compiled_forms(environment))
    findings = tuple(loaded.place(finding) for result in results if (finding := result.finding()) is not None)
    if form is Format.JSON:
        print_json(
            {
                "environment": environment.name,
                "attempts": [result.to_dict() for result in results],
                "findings": [finding.to_dict() for finding in findings],
            }
        )
        raise typer.Exit(1 if has_errors(findings) else 0)
    print_with_lines(findings, loaded.path)
    for result in results:
        layers = [
            answer.layer if answer.refuses else f"({answer.layer})"
            for answer in result.answers
            if answer.refuses is not False
        ]
        typer.echo(f"{result.name:<24} {', '.join(layers)}")
    if not results:
        typer.echo("no data class with an account must stay on-prem")
    raise typer.Exit(1 if has_errors(findings) else 0)
