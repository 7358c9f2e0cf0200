"""Command `landbridge netcheck`: compare the link between sites with the plan, and name the cause of each fault."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require, stack_outputs

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.netcheck.collect import HostFacts
    from landbridge.ops.netcheck.result import LinkReport
    from landbridge.plan.site.link.expectations import LinkExpectations

Also = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="HOST",
        help="Another host that checks: its name, or USER@ADDRESS of a running node in AWS; repeat for several.",
    ),
]
Metrics = Annotated[
    Path | None,
    typer.Option("--metrics", help="Write metrics to this file, for the textfile collector of Prometheus."),
]
Save = Annotated[Path | None, typer.Option("--save", help="Save the facts of the hosts to this file.")]
Facts = Annotated[
    Path | None, typer.Option("--facts", help="Evaluate the facts that --save wrote to this file; connect to no host.")
]
Throughput = Annotated[
    bool,
    typer.Option(
        "--throughput",
        help="Measure the throughput with the node in AWS that --from names, in both directions, for 10 s each.",
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Show checks that passed too.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(netcheck)


def netcheck(
    stack: Stack = None,
    file: File = None,
    also: Also = None,
    every: Every = False,
    metrics: Metrics = None,
    save: Save = None,
    facts: Facts = None,
    throughput: Throughput = False,
    form: Form = Format.TEXT,
) -> None:
    """Compare the link between sites with the plan.

    Tunnels, BGP, routes, packet sizes, connections of the port matrix, DNS and clocks are checked, and each fault has its
    cause and its fix.
    The command reads the gateways and the first controller over ssh and changes nothing. Exit status: 0 no fault (warnings are
    none), 1 a fault, 2 a check could not be judged.

    Example: landbridge netcheck -s hybrid --from admin@10.60.1.21
    """
    from landbridge.ops.netcheck.diagnose import diagnose
    from landbridge.ops.netcheck.metrics import metrics_text, write_metrics
    from landbridge.ops.netcheck.record import write_facts
    from landbridge.ops.netcheck.result import EXIT_STATUS
    from landbridge.ops.timer_metrics import timer_text
    from landbridge.plan.site.link.expectations import link_expectations

    environment = require(stack, file)
    if environment.link is None:
        raise typer.BadParameter(f"{environment.name} has no link between sites", param_hint="-s")
    expected = link_expectations(environment, stack_outputs(environment))
    collected = _facts(environment, expected, also or [], facts, throughput)
    report = diagnose(expected, collected)
    if save is not None:
        write_facts(save, expected, collected)
    if metrics is not None:
        silent = sum(bool(each.error) for each in collected)
        timer = timer_text(environment, "link", time.time(), silent, {}) if environment.observability.timers else ""
        write_metrics(metrics, metrics_text(report, collected, time.time()) + timer)
    _print(report, form, every)
    raise typer.Exit(EXIT_STATUS[report.status])


def _facts(
    environment: "Environment", expected: "LinkExpectations", also: list[str], recorded: Path | None, throughput: bool
) -> "tuple[HostFacts, ...]":
    """Return the facts of the hosts, or of a file. Raises a usage error for an unknown host or a bad file."""
    from landbridge.ops.netcheck.collect import collect, link_hosts
    from landbridge.ops.netcheck.record import RecordError, read_facts
    from landbridge.ops.netcheck.throughput import sample, throughput_ends

    if recorded is not None:
        try:
            return read_facts(recorded, expected)
        except RecordError as error:
            raise typer.BadParameter(str(error), param_hint="--facts") from None
    try:
        chosen = link_hosts(environment, expected, also)
        ends = throughput_ends(chosen) if throughput else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--from") from None
    collected = collect(expected, chosen)
    if ends is None:
        return collected
    return tuple(sample(expected, ends, collected))


def _print(report: "LinkReport", form: Format, every: bool) -> None:
    if form is Format.JSON:
        print_json(report.to_dict())
        return
    for result in report.results:
        if result.status != "passed" or every:
            subject = " ".join(filter(None, (result.host, result.subject)))
            cause = f" [{result.cause}]" if result.cause else ""
            typer.echo(f"{result.status:<10} {result.check:<11} {subject}: {result.message}{cause}")
            if result.fix:
                typer.echo(f"           to do: {result.fix}")
    for sentence in report.not_asked:
        typer.echo(f"not asked  {sentence}")
    passed = sum(result.status == "passed" for result in report.results)
    typer.echo(f"{report.environment}: {report.status}, {passed} of {len(report.results)} checks passed")
