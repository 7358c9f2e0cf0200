"""Command `landbridge preflight`: check an environment against the AWS account before it is built."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, exit_code, print_findings, print_json
from landbridge.findings import Finding, FindingsError, Severity, has_errors

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Permissions = Annotated[
    bool, typer.Option("--permissions", help="Print the IAM policy that the checks need, and exit.")
]
Accepted = Annotated[
    bool,
    typer.Option("--suppressed", "--verbose", help="Also print accepted (suppressed) findings with their reasons."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(preflight)


def preflight(
    stack: Stack = None,
    file: File = None,
    permissions: Permissions = False,
    accepted: Accepted = False,
    form: Form = Format.TEXT,
) -> None:
    """Check in AWS that an environment can be built.

    It queries quotas, offerings, addresses, capacity and images, and makes dry runs. Changes nothing. Checks without
    permission are skipped and reported. Exit status: 0 no errors, 1 errors, 2 AWS could not be queried.
    """
    from datetime import UTC, datetime

    if permissions:
        from landbridge.live.preflight import policy

        print_json(policy())
        return
    from landbridge.aws_api.client import AwsClient
    from landbridge.cli.display.preflight import PreflightDisplay
    from landbridge.environment import load_environment
    from landbridge.live.preflight import preflight as run
    from landbridge.plan.fips import fips_services
    from landbridge.rules import check

    try:
        loaded = load_environment(environment_path(stack, file))
    except FindingsError as problem:
        raise typer.Exit(_refuse(stack or "?", problem.findings, form)) from None
    now = datetime.now(UTC)
    offline = check(loaded, now.date())
    if has_errors(offline) or loaded.environment is None:
        # An environment with errors will not be built unchanged.
        errors = [finding for finding in offline if finding.severity is Severity.ERROR]
        raise typer.Exit(_refuse(stack or loaded.path.name, errors, form))
    environment = loaded.environment
    aws = AwsClient(environment.region, environment.aws.endpoints.operator, fips_services=fips_services(environment))
    with PreflightDisplay(shown=form is Format.TEXT and sys.stderr.isatty()) as progress:
        report = run(loaded, aws, now, progress)
    counts = {f"{severity.value}s": sum(f.severity is severity for f in report.findings) for severity in Severity}
    if form is Format.JSON:
        print_json(
            {
                "environment": environment.name,
                "account": report.account,
                "region": environment.region,
                **counts,
                "checks": [look.to_dict() for look in report.looks],
                "findings": [finding.to_dict() for finding in report.findings],
                "suppressed": [{**finding.to_dict(), "reason": reason} for finding, reason in report.suppressed],
            }
        )
    else:
        from dataclasses import replace

        from landbridge.cli.display.excerpt import print_with_lines

        shown = [
            replace(finding, message=f"{finding.message}; accepted: {reason}", severity=Severity.INFO, fix=None)
            for finding, reason in report.suppressed
            if accepted
        ]
        print_with_lines([*report.findings, *shown], loaded.path)
        completed = sum(look.result in ("good", "found") for look in report.looks)
        summary = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "no findings"
        account_text = f"account {report.account or 'unknown'}, {environment.region}"
        typer.echo(f"{environment.name} in {account_text}: {completed} of {len(report.looks)} checks, {summary}")
    raise typer.Exit(2 if not report.answered else 1 if has_errors(report.findings) else 0)


def _refuse(name: str, findings: Sequence[Finding], form: Format) -> int:
    """Print the errors of the file and that AWS was not queried; return the exit status."""
    if form is Format.JSON:
        finding_data = [finding.to_dict() for finding in findings]
        print_json(
            {"environment": name, "account": None, "errors": len(finding_data), "checks": [], "findings": finding_data}
        )
    else:
        print_findings(findings)
        typer.echo(f"{name}: AWS was not queried; fix the errors of `landbridge check` first", err=True)
    return exit_code(findings)
