"""Commands `landbridge serve status` and `weights`: the model gateway's servers."""

from typing import Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require
from landbridge.cli.serve.gateway_program import ask

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Service = Annotated[str, typer.Argument(help="Service of the environment file.", metavar="SERVICE")]
Share = Annotated[int, typer.Argument(min=0, max=100, help="Share of the slot's requests, in percent.")]


def register(serve: typer.Typer) -> None:
    """Add the commands."""
    serve.command()(status)
    serve.command()(weights)


def status(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Show the model servers' states and weights.

    Example: landbridge serve status -s hybrid --format json
    """
    print_servers(ask(require(stack, file), ["list"]), form)


def weights(
    service: Service, a: Share, b: Share, stack: Stack = None, file: File = None, form: Form = Format.TEXT
) -> None:
    """Set the shares of a service's two slots.

    Example: landbridge serve weights digits 90 10 -s hybrid
    """
    print_servers(ask(require(stack, file), ["weights", service, str(a), str(b)]), form)


def print_servers(answer: dict[str, Any], form: Format) -> None:
    """Print the servers of every service."""
    if form is Format.JSON:
        print_json(answer)
        return
    for row in answer["servers"]:
        typer.echo(
            f"{row['service']:<16} {row['server']:<24} {row['state']:<8} weight {row['weight']:>3}  "
            f"{row['requests']} requests, {row['errors']} errors"
        )
    for name, service in answer["followed"].items():
        if by_load := service["by_load"]:
            start = f"; the last start from zero took {by_load['cold_seconds']} s" if by_load["cold_seconds"] else ""
            typer.echo(f"{name:<16} {by_load['hosts']} of {len(service['hosts'])} hosts by load{start}")
