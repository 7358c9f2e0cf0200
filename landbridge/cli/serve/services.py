"""Command `landbridge serve list`."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(serve: typer.Typer) -> None:
    """Add the command."""
    serve.command("list")(list_services)


def list_services(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List services: model, alias, hosts, URL and objective."""
    from landbridge.plan.serving.services import served_models

    rows = served_models(require(stack, file))
    if form is Format.JSON:
        print_json({"services": rows})
        return
    for row in rows:
        objective = f"p95 {row['p95_ms']:g} ms at {row['rate']:g}/s"
        typer.echo(f"{row['service']:<16} {row['model']}@{row['alias']} on {', '.join(row['hosts'])}: {objective}")
        typer.echo(f"{'':<16} {row['url']} for {', '.join(row['accounts'])}")
    if not rows:
        typer.echo("no model is served")
