"""Program `landbridge-model-gateway` on the gateway's host, over ssh."""

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from landbridge.environment import Environment


def ask(environment: "Environment", words: list[str]) -> dict[str, Any]:
    """Run the program on the gateway's host; exit with status 1 and its message if it refuses, and 2 without an answer.

    On a pair it runs on both hosts, and the answer is that of the first one that answers. A host without an answer is named: a change
    has to be repeated when it is back.
    """
    from landbridge.plan.network.services.serving import model_gateway_hosts

    gateways = model_gateway_hosts(environment)
    if not gateways:
        typer.echo("landbridge: the environment serves no model", err=True)
        raise typer.Exit(1)
    answers: list[dict[str, Any]] = []
    for gateway in gateways:
        answer = _ask_host(environment, gateway, words)
        if isinstance(answer, str):
            typer.echo(f"landbridge: {answer}", err=True)
        else:
            answers.append(answer)
    if not answers:
        raise typer.Exit(2)
    return answers[0]


def _ask_host(environment: "Environment", gateway: str, words: list[str]) -> dict[str, Any] | str:
    """Return the answer of one host, or why there is none; exit with status 1 if the program refuses."""
    import subprocess

    from landbridge.ops.hosts import named_hosts

    (host,) = named_hosts(environment, [gateway])
    line = [*host.words, "sudo", "/usr/local/sbin/landbridge-model-gateway", *words]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{gateway}: {error}"
    if done.returncode == 1:
        typer.echo(done.stderr.strip() or f"landbridge: {gateway} refuses", err=True)
        raise typer.Exit(1)
    if done.returncode != 0:
        return done.stderr.strip() or f"{gateway} does not answer"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
