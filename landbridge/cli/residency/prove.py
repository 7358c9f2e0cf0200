"""Command `landbridge residency prove`: no path by which data of a class reaches a place where it may not be."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.residency.common import checked

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(prove)


def prove(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Prove the data residency of each class.

    Data reaches no place where it may not be; else each path is printed, step by step. The graph has identities, buckets, keys, exports, ports, servers, copies and logs of the whole plan. Also a finding: a check
    that would let data pass, while another one still holds. Makes no network call. Exit status: 0 proven under the printed
    assumptions, 1 findings, 2 could not run.
    Example: landbridge residency prove -s hybrid
    """
    from landbridge.cli.display.excerpt import print_with_lines
    from landbridge.ops.residency import prove as proven

    loaded, environment = checked(stack, file)
    proof = proven(environment)
    findings = tuple(map(loaded.place, proof.findings()))
    assumed = tuple(loaded.place(assumption.finding()) for assumption in proof.assumptions)
    if form is Format.JSON:
        print_json(
            {
                "environment": environment.name,
                **proof.to_dict(),
                "findings": [finding.to_dict() for finding in findings],
                "assumptions": [finding.to_dict() for finding in assumed],
            }
        )
        raise typer.Exit(0 if proof.is_proven else 1)
    print_with_lines(findings, loaded.path)
    for policy in proof.policies.values():
        typer.echo(f"{policy.name:<16} {', '.join(policy.locations) or 'nowhere'}")
    searched = f"{proof.places} places, {proof.crossings} crossings"
    if proof.is_proven:
        typer.echo(f"{environment.name}: proven under these assumptions ({searched}):")
    else:
        typer.echo(f"{environment.name}: {len(proof.paths)} findings ({searched}). Assumptions:")
    for finding in assumed:
        typer.echo(f"- {finding.message}" + (f" (line {finding.line})" if finding.path else ""))
    raise typer.Exit(0 if proof.is_proven else 1)
