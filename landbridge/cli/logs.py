"""Command `landbridge logs`: search the logs of hosts by node, job and time."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, exit_code, load, print_findings, print_json

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.netcheck.collect import LinkHost

Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="NODES",
        help="Hosts: a host list, or USER@ADDRESS of a running node in AWS; repeat for several.",
    ),
]
Job = Annotated[int | None, typer.Option("--job", min=1, help="Only entries with this job's number.")]
Since = Annotated[str, typer.Option("--since", help="Start, before now: 90min, 6h, 3d.", metavar="TIME")]
Unit = Annotated[str | None, typer.Option("--unit", help="Only entries of this unit of systemd, such as slurmd.")]
Errors = Annotated[bool, typer.Option("--errors", help="Only entries of priority err and above.")]
Lines = Annotated[int, typer.Option("--lines", min=1, max=100_000, help="Number of latest entries to show.")]
Limit = Annotated[float, typer.Option("--limit", min=1, help="Seconds to wait for each host.", metavar="SECONDS")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(logs)


def logs(
    stack: Stack = None,
    file: File = None,
    nodes: Nodes = None,
    job: Job = None,
    since: Since = "1h",
    unit: Unit = None,
    errors: Errors = False,
    lines: Lines = 1000,
    limit: Limit = 30,
    form: Form = Format.TEXT,
) -> None:
    """Search the logs of hosts by node, job and time.

    All hosts are searched at the same time, over ssh, and the entries are printed in the order of their time. Without --node:
    the service hosts, and with --job also the site's nodes on which the job ran. The journal and Slurm's log files are searched, and
    stay on their hosts.
    Exit status: 0 entries were found, 1 none, 2 a host could not be searched.

    Example: landbridge logs -s acme --job 4711 --since 6h
    """
    from landbridge.ops.logs.query import LogQuery
    from landbridge.ops.logs.search import search
    from landbridge.ops.logs.window import log_window

    window = log_window(since)
    if window is None:
        raise typer.BadParameter(f"{since} is not a time such as 90min, 6h or 3d", param_hint="--since")
    loaded = load(stack, file)
    if loaded.environment is None:
        print_findings(loaded.findings)
        raise typer.Exit(exit_code(loaded.findings))
    unread: dict[str, str] = {}
    hosts = _hosts(loaded.environment, nodes or [], job, limit, unread)
    result = search(LogQuery(window, job, unit, errors, lines), hosts, limit)
    unread |= result.unread
    if form is Format.JSON:
        entries = [{"time": entry.time, **asdict(entry)} for entry in result.entries]
        print_json({"entries": entries, "hosts": [host.name for host in hosts], "not_read": unread})
    else:
        for entry in result.entries:
            typer.echo(f"{entry.time} {entry.host} {entry.unit}: {entry.message}")
        for name, reason in unread.items():
            typer.echo(f"not read: {name}: {reason}", err=True)
    raise typer.Exit(2 if unread else 0 if result.entries else 1)


def _hosts(
    environment: "Environment", nodes: list[str], job: int | None, limit: float, unread: dict[str, str]
) -> "tuple[LinkHost, ...]":
    """Return the hosts to search. Raises a usage error for an unknown host."""
    from landbridge.ops.hosts import named_hosts
    from landbridge.ops.logs.search import hosts_of_job
    from landbridge.ops.netcheck.gateway_facts import MissingFactError
    from landbridge.plan.network.hosts import configured_hosts, service_hosts

    served = service_hosts(environment)
    try:
        if nodes:
            return named_hosts(environment, nodes)
        names = [host.name for host in configured_hosts(environment) if host.name in served.names]
        controllers = named_hosts(environment, served.controllers[:1])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--node") from None
    if job is not None:
        try:
            names += hosts_of_job(environment, job, controllers[0], limit)
        except MissingFactError as error:
            unread["nodes of the job"] = str(error)
    return named_hosts(environment, names)
