"""Commands `landbridge serve start`, `stop`, `scale`, `drain` and `wake`: hosts that serve a model."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, require
from landbridge.cli.serve.gateway_program import ask
from landbridge.cli.serve.weights import Form, Service, print_servers
from landbridge.findings import Finding

if TYPE_CHECKING:
    from landbridge.environment import Environment

Count = Annotated[
    int, typer.Argument(min=0, max=64, metavar="HOSTS", help="Number of hosts, the first of the service.")
]
Host = Annotated[str, typer.Argument(metavar="HOST", help="Host of model servers.")]
Minutes = Annotated[
    int, typer.Argument(min=0, max=480, metavar="MINUTES", help="Time for which the hosts run without load; 0 ends it.")
]
Undo = Annotated[bool, typer.Option("--undo", help="Send requests to the host again.")]
Force = Annotated[bool, typer.Option("--force", help="Drain the host even if a service has no other server.")]


def register(serve: typer.Typer) -> None:
    """Add the commands."""
    for command in (start, stop, scale, drain, wake):
        serve.command()(command)


def start(service: Service, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Start a service on all of its hosts.

    It is for a service with the key `canary`, whose versions come from the registry. Exit status 1 for a refusal, 2 without an answer of the
    gateway. Example: landbridge serve start digits -s hybrid
    """
    _scaled(require(stack, file), service, "all", form)


def stop(service: Service, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Stop a service on all of its hosts.

    Its model servers answer the requests that they have, and end; clients get the status 503. Example: landbridge serve stop digits -s hybrid
    """
    _scaled(require(stack, file), service, "0", form)


def scale(service: Service, hosts: Count, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Serve a model on its first hosts only.

    The others get no more requests first, and then their model servers end. Example: landbridge serve scale digits 1 -s hybrid
    """
    _scaled(require(stack, file), service, str(hosts), form)


def drain(
    host: Host,
    undo: Undo = False,
    force: Force = False,
    stack: Stack = None,
    file: File = None,
    form: Form = Format.TEXT,
) -> None:
    """Send no new requests to a host's model servers.

    Requests that have begun are answered. It is refused with exit status 1 if a service would have no server. Example: landbridge serve drain
    srv01 -s hybrid
    """
    from landbridge.plan.serving.gateway_state import last_servers

    environment = require(stack, file)
    answer = ask(environment, ["list"])
    of_host = [row for row in answer["servers"] if row["server"].partition("-")[2] == host]
    if not of_host:
        known = sorted({row["server"].partition("-")[2] for row in answer["servers"]})
        _refuse(Finding("serve-host", f"{host} has no model server", fix=f"known: {', '.join(known) or 'none'}"))
    lost = () if undo or force else last_servers(answer, host)
    if lost:
        message = f"{', '.join(lost)} would have no model server without {host}"
        _refuse(Finding("serve-last-server", message, fix="start another host first, or repeat with --force"))
    for row in of_host:
        answer = ask(environment, ["ready" if undo else "drain", row["service"], row["server"]])
    print_servers(answer, form)


def wake(minutes: Minutes = 60, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Start the hosts in AWS for work on them.

    The model gateway starts them, with its own right, and stops them after this time if no load needs them. Before `landbridge configure`,
    which does not reach stopped hosts. Example: landbridge serve wake 60 -s hybrid
    """
    from landbridge.plan.network.services.serving import serving_of

    environment = require(stack, file)
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        message = "the environment has no hosts of model servers in AWS"
        _refuse(Finding("serve-aws", message, ("serving",), "write serving.aws, or work on the hosts of the site"))
    print_servers(ask(environment, ["wake", str(minutes)]), form)


def _scaled(environment: "Environment", service: str, count: str, form: Format) -> None:
    from landbridge.findings import did_you_mean
    from landbridge.plan.network.services.serving import followed_services, serving_of

    serving = serving_of(environment)
    known: dict[str, Any] = {} if serving is None else dict(serving.services)
    if service not in known:
        near = did_you_mean(service, known)
        fix = f'did you mean "{near}"?' if near else f"known: {', '.join(known) or 'none'}"
        _refuse(Finding("serve-service", f'unknown service "{service}"', ("serving", "services"), fix))
    if service not in followed_services(environment):
        path = ("serving", "services", service, "canary")
        message = f"{service} has no `canary`: its versions are installed in the slots by hand"
        _refuse(Finding("serve-service", message, path, "write canary: {}, or start its units"))
    print_servers(ask(environment, ["scale", service, count]), form)


def _refuse(finding: Finding) -> None:
    print_findings([finding])
    raise typer.Exit(1)
