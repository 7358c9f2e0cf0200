"""Command `landbridge logs`: search the logs of hosts by node, job and time."""

import re
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, exit_code, load, print_findings, print_json

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.logs.query import LogQuery
    from landbridge.ops.logs.search import LogResult
    from landbridge.ops.logs.window import LogWindow
    from landbridge.ops.netcheck.collect import LinkHost

Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--node",
        metavar="NODES",
        help="Hosts: a host list, which may have nodes in AWS with a log store, or USER@ADDRESS of a running one; repeat for several.",
    ),
]
Sites = Annotated[
    str, typer.Option("--site", metavar="SITE", help="Only hosts of this site: onprem or aws; aws needs a log store.")
]
Job = Annotated[int | None, typer.Option("--job", min=1, help="Only entries with this job's number.")]
Since = Annotated[
    str,
    typer.Option(
        "--since", help="Start, before now: 90min, 6h, 3d. Default: 1h, or the job's submission.", metavar="TIME"
    ),
]
Until = Annotated[str, typer.Option("--until", help="End, before now: 90min, 6h, 3d. Default: now.", metavar="TIME")]
Grep = Annotated[str, typer.Option("--grep", metavar="PATTERN", help="Only entries with this regular expression.")]
Aws = Annotated[
    bool, typer.Option("--aws", help="Print the commands that query AWS's flow logs, tunnel logs and API calls.")
]
OnHosts = Annotated[bool, typer.Option("--on-hosts", help="Search the hosts themselves, and not the log store.")]
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
    site: Sites = "",
    job: Job = None,
    since: Since = "",
    until: Until = "",
    grep: Grep = "",
    unit: Unit = None,
    errors: Errors = False,
    lines: Lines = 1000,
    limit: Limit = 30,
    on_hosts: OnHosts = False,
    aws: Aws = False,
    form: Form = Format.TEXT,
) -> None:
    """Search the logs of hosts by node, job and time.

    With a log store (onprem.services.logs) the entries of the site's hosts, and of nodes in AWS that ship, are searched there. Otherwise
    all hosts are searched at the same time, over ssh: the journal and Slurm's log files. Entries are printed in the order of their time.
    Without --node: the service hosts, and with --job also the nodes on which the job ran. --site aws: all nodes in AWS that ship.
    Exit status: 0 entries were found, 1 none, 2 a host could not be searched.

    Example: landbridge logs -s acme --job 4711 --since 6h
    """
    from landbridge.ops.logs.query import LogQuery
    from landbridge.ops.logs.search import LogResult, search
    from landbridge.plan.network.services.log_store import log_store_host
    from landbridge.plan.roles.log_store import node_log_sources

    window, end = _window(since or "1h", "--since"), _window(until, "--until") if until else None
    _check_pattern(grep)
    loaded = load(stack, file)
    if loaded.environment is None:
        print_findings(loaded.findings)
        raise typer.Exit(exit_code(loaded.findings))
    environment, unread = loaded.environment, dict[str, str]()
    if aws:
        _print_aws(environment, window, end, grep, lines, form)
        return
    if site not in ("", "onprem", "aws"):
        raise typer.BadParameter(f"{site} is neither onprem nor aws", param_hint="--site")
    shipped = dict[str, str]() if on_hosts else node_log_sources(environment)
    hosts, in_aws, span = _hosts(environment, nodes or [], site, job, limit, unread, tuple(shipped))
    query = LogQuery(window, job, unit, errors, lines, end, None if since or until else span, grep)
    store = None if on_hosts else log_store_host(environment)
    direct = hosts
    result = LogResult((), {})
    if store is not None:
        direct = tuple(host for host in hosts if host.side == "aws")
        result = _in_store(environment, query, store, [*(host.name for host in hosts), *in_aws], limit)
    if direct:
        live = search(query, direct, limit)
        ordered = sorted((*result.entries, *live.entries), key=lambda entry: entry.at)[-lines:]
        result = LogResult(tuple(ordered), result.unread | live.unread)
    unread |= result.unread
    if form is Format.JSON:
        entries = [{"time": entry.time, **asdict(entry)} for entry in result.entries]
        searched = [*(host.name for host in hosts), *in_aws]
        print_json({"entries": entries, "hosts": searched, "not_read": unread})
    else:
        for entry in result.entries:
            typer.echo(f"{entry.time} {entry.host} {entry.unit}: {entry.message}")
        for name, reason in unread.items():
            typer.echo(f"not read: {name}: {reason}", err=True)
    raise typer.Exit(2 if unread else 0 if result.entries else 1)


def _window(text: str, option: str) -> "LogWindow":
    """Return the window of a text. Raises a usage error for another one."""
    from landbridge.ops.logs.window import log_window

    window = log_window(text)
    if window is None:
        raise typer.BadParameter(f"{text} is not a time such as 90min, 6h or 3d", param_hint=option)
    return window


def _check_pattern(pattern: str) -> None:
    """Raise a usage error for a text that is not a regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise typer.BadParameter(f"{pattern} is not a regular expression: {error}", param_hint="--grep") from None


def _in_store(environment: "Environment", query: "LogQuery", store: str, names: list[str], limit: float) -> "LogResult":
    """Return the entries of hosts in the log store."""
    from landbridge.ops.hosts import named_hosts
    from landbridge.ops.logs.search import LogResult, search_store
    from landbridge.plan.roles.log_store import log_sources

    if not set(log_sources(environment)) & set(names):
        return LogResult((), {})
    (host,) = named_hosts(environment, [store])
    return search_store(query, environment, host, names, limit)


def _print_aws(
    environment: "Environment", window: "LogWindow", end: "LogWindow | None", grep: str, lines: int, form: Format
) -> None:
    """Print the commands that query the logs of AWS."""
    from landbridge.ops.logs.aws_queries import aws_log_queries

    now = int(time.time())
    queries = aws_log_queries(
        environment, now - window.seconds, now - (end.seconds if end is not None else 0), grep, lines
    )
    if form is Format.JSON:
        print_json({"queries": [asdict(query) for query in queries]})
        return
    for query in queries:
        typer.echo(f"# {query.log} in {query.region}{f', log group {query.group}' if query.group else ''}")
        typer.echo(query.command)


def _hosts(
    environment: "Environment",
    nodes: list[str],
    site: str,
    job: int | None,
    limit: float,
    unread: dict[str, str],
    shipped: tuple[str, ...],
) -> "tuple[tuple[LinkHost, ...], tuple[str, ...], tuple[int, int] | None]":
    """Return the hosts to search, the nodes in AWS whose logs are in the store, and the times of the job. Raises a usage error for an unknown host.

    `shipped`: all nodes in AWS that ship their logs.
    """
    from landbridge.ops.hosts import named_hosts, without_names
    from landbridge.ops.logs.search import run_of_job
    from landbridge.ops.netcheck.gateway_facts import MissingFactError
    from landbridge.plan.network.host_role import configured_hosts
    from landbridge.plan.network.host_role import hosts as every_host
    from landbridge.plan.network.hosts import service_hosts

    served, span = service_hosts(environment), None
    try:
        controllers = named_hosts(environment, served.controllers[:1])
        if nodes:
            texts, in_aws = without_names(nodes, shipped)
            hosts = named_hosts(environment, texts)
        else:
            names = [host.name for host in configured_hosts(environment) if host.name in served.names]
            in_aws = shipped if site == "aws" and job is None else ()
            if job is not None:
                try:
                    run = run_of_job(environment, job, controllers[0], limit)
                    span, in_aws = run.span, tuple(name for name in run.hosts if name in shipped)
                    known = {host.name for host in every_host(environment)}
                    names += [name for name in run.hosts if name in known]
                except MissingFactError as error:
                    unread["nodes of the job"] = str(error)
            hosts = named_hosts(environment, names)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--node") from None
    if site:
        hosts = tuple(host for host in hosts if host.side == site)
    return hosts, () if site == "onprem" else in_aws, span
