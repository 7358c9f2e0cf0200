"""Program `landbridge-model-gateway` on the gateway's host, over ssh."""

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from landbridge.environment import Environment


def ask(environment: "Environment", words: list[str]) -> dict[str, Any]:
    """Run the program on the gateway's host; exit with status 1 and its message if it refuses, and 2 without an answer."""
    import subprocess

    from landbridge.ops.hosts import named_hosts
    from landbridge.plan.network.services.serving import model_gateway_host

    gateway = model_gateway_host(environment)
    if gateway is None:
        typer.echo("landbridge: the environment serves no model", err=True)
        raise typer.Exit(1)
    (host,) = named_hosts(environment, [gateway])
    line = [*host.words, "sudo", "/usr/local/sbin/landbridge-model-gateway", *words]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        typer.echo(f"landbridge: {gateway}: {error}", err=True)
        raise typer.Exit(2) from None
    if done.returncode != 0:
        typer.echo(done.stderr.strip() or f"landbridge: {gateway} does not answer", err=True)
        raise typer.Exit(1 if done.returncode == 1 else 2)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
