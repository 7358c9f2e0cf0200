"""Command `landbridge lock`: record the AMI of each image name."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, exit_code, load, print_findings, print_json
from landbridge.findings import has_errors

Upgrade = Annotated[bool, typer.Option("--upgrade", help="Query AWS again for every name, and show the changes.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Show the changes without writing them.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(lock)


def lock(
    stack: Stack = None, file: File = None, upgrade: Upgrade = False, dry: Dry = False, form: Form = Format.TEXT
) -> None:
    """Resolve image names to AMI ids, in images.ENV.lock.

    Locked images stay; new names are added, and removed names are deleted. Commit the file. Exit status:
    0 done, 1 a name or the environment is invalid, 2 AWS could not be queried.
    """
    from datetime import UTC, datetime

    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_api.refusal import AwsRefusal, finding_of
    from landbridge.environment.file.lock import BROKEN, lock_path
    from landbridge.live.lock import propose
    from landbridge.plan.fips import fips_services

    loaded = load(stack, file)
    # This command replaces an unreadable lock.
    problems = [finding for finding in loaded.findings if finding.rule != BROKEN]
    if loaded.partial is None or has_errors(problems):
        print_findings(problems)
        raise typer.Exit(exit_code(problems))
    environment, path = loaded.partial, lock_path(loaded.path)
    aws = AwsClient(environment.region, environment.aws.endpoints.operator, fips_services=fips_services(environment))
    try:
        proposal = propose(environment, loaded.lock, aws, datetime.now(UTC).date(), upgrade=upgrade)
    except AwsRefusal as refused:
        print_findings([finding_of(refused, "image parameters")])
        raise typer.Exit(2) from None
    written = bool(proposal.different and not dry)
    if written:
        path.write_text(proposal.lock.text(environment.name), encoding="utf-8")
    findings = [loaded.place(finding) for finding in proposal.findings]
    if form is Format.JSON:
        changes = [change.to_dict() for change in proposal.changes]
        finding_data = [finding.to_dict() for finding in findings]
        print_json(
            {
                "environment": environment.name,
                "file": str(path),
                "written": written,
                "images": changes,
                "findings": finding_data,
            }
        )
    else:
        for change in proposal.changes:
            typer.echo(f"{change.name}: {change.kind}")
            for key, before, after in change.parts if change.kind != "removed" else ():
                text = after if before is None else f"{before} -> {after or 'not known'}"
                typer.echo(f"    {key:<12} {text}")
        print_findings(findings)
        folder = Path.cwd()
        shown = path.relative_to(folder) if path.is_absolute() and path.is_relative_to(folder) else path
        typer.echo(f"{shown}: {_summary(len(proposal.changes), proposal.different, written)}")
    raise typer.Exit(1 if has_errors(findings) else 0)


def _summary(count: int, different: bool, written: bool) -> str:
    if not count:
        return "no image is named in aws.images"
    if written:
        return "written; commit it"
    return "would change" if different else "nothing has changed"
