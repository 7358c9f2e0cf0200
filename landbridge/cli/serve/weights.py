"""Commands `landbridge serve status` and `weights`: the model gateway's servers."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require

if TYPE_CHECKING:
    from landbridge.environment import Environment

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Service = Annotated[str, typer.Argument(help="Service of the environment file.", metavar="SERVICE")]
Share = Annotated[int, typer.Argument(min=0, max=100, help="Share of the slot's requests, in percent.")]


def register(serve: typer.Typer) -> None:
    """Add the commands."""
    serve.command()(status)
    serve.command()(weights)


def status(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Show the model servers' states and weights."""
    _print(_ask(require(stack, file), ["list"]), form)


def weights(
    service: Service, a: Share, b: Share, stack: Stack = None, file: File = None, form: Form = Format.TEXT
) -> None:
    """Set the shares of a service's two slots."""
    _print(_ask(require(stack, file), ["weights", service, str(a), str(b)]), form)


def _ask(environment: "Environment", words: list[str]) -> dict[str, Any]:
    """Run the program on the gateway's host; exit with status 1 and its message if it refuses."""
    import subprocess

    from landbridge.ops.hosts import named_hosts
    from landbridge.plan.network.serving import model_gateway_host

    gateway = model_gateway_host(environment)
    if gateway is None:
        typer.echo("landbridge: the environment serves no model", err=True)
        raise typer.Exit(1)
    (host,) = named_hosts(environment, [gateway])
    line = [*host.words, "sudo", "/usr/local/sbin/landbridge-model-gateway", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        typer.echo(done.stderr.strip() or f"landbridge: {gateway} does not answer", err=True)
        raise typer.Exit(1)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _print(answer: dict[str, Any], form: Format) -> None:
    if form is Format.JSON:
        print_json(answer)
        return
    for row in answer["servers"]:
        typer.echo(
            f"{row['service']:<16} {row['server']:<24} {row['state']:<8} weight {row['weight']:>3}  "
            f"{row['requests']} requests, {row['errors']} errors"
        )
