"""Command `landbridge check`: report all errors of an environment at once."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, exit_code, print_json
from landbridge.findings import Finding, FindingsError, Severity

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Accepted = Annotated[
    bool,
    typer.Option("--suppressed", "--verbose", help="Also print accepted (suppressed) findings with their reasons."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)


def check(stack: Stack = None, file: File = None, form: Form = Format.TEXT, accepted: Accepted = False) -> None:
    """Check an environment file without network access. Exit status: 0 no errors, 1 errors, 2 no file to check."""
    from landbridge.cli.display.excerpt import print_with_lines
    from landbridge.environment import load_environment
    from landbridge.rules import Suppressed, check_report

    name, path = stack or "?", None
    suppressed: tuple[Suppressed, ...] = ()
    try:
        loaded = load_environment(environment_path(stack, file))
        report = check_report(loaded, datetime.now(UTC).date())
        findings, suppressed, path = report.findings, report.suppressed, loaded.path
        name = path.name.removeprefix("Pulumi.").removesuffix(".yaml")
    except FindingsError as error:
        findings = error.findings
    if form is Format.JSON:
        counts = {f"{severity.value}s": _count(findings, severity) for severity in Severity}
        print_json(
            {
                "environment": name,
                **counts,
                "findings": [finding.to_dict() for finding in findings],
                "suppressed": [suppression.to_dict() for suppression in suppressed],
            }
        )
    else:
        print_with_lines([*findings, *(suppression.shown() for suppression in suppressed if accepted)], path)
        typer.echo(f"{name}: {_summary(findings, len(suppressed))}")
    raise typer.Exit(exit_code(findings))


def _summary(findings: tuple[Finding, ...], suppressed: int) -> str:
    parts = [_plural(count, severity.value) for severity in Severity if (count := _count(findings, severity))]
    if findings and not _count(findings, Severity.ERROR):
        parts.insert(0, "no errors")
    accepted = [f"{suppressed} suppressed"] if suppressed else []
    return ", ".join([*(parts or ["no findings"]), *accepted])


def _count(findings: tuple[Finding, ...], severity: Severity) -> int:
    return sum(finding.severity is severity for finding in findings)


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1 and word != 'info')}"
