"""Commands `landbridge health replay` and `rma`: recorded logs, and reports for the hardware support."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json, require
from landbridge.cli.health.queries import Node, opened

if TYPE_CHECKING:
    from landbridge.ops.gpu_health.kernel_log import KernelLog
    from landbridge.ops.gpu_health.smi_xml import SmiReading

Log = Annotated[Path, typer.Argument(help="Kernel log: output of dmesg, or of journalctl -k -o short-iso.")]
NodeName = Annotated[str, typer.Option("--node", help="Name of the node in the output.")]
Smi = Annotated[Path | None, typer.Option("--smi", help="Output of nvidia-smi -q -x of the same node.")]
Boot = Annotated[str, typer.Option("--boot", help="Start of the kernel (ISO 8601), for a log with times since boot.")]
Failing = Annotated[
    list[str] | None, typer.Option("--failing", help="Step that fails: reset, reboot or retest; repeat for several.")
]
Recorded = Annotated[Path | None, typer.Option("--log", help="Recorded kernel log, instead of the node's own.")]
Report = Annotated[Path | None, typer.Option("--bug-report", help="File that nvidia-bug-report.sh wrote.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: standard output.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(health: typer.Typer) -> None:
    """Add the commands."""
    health.command("replay")(replay_log)
    health.command()(rma)


def replay_log(
    log: Log,
    node: NodeName = "node",
    smi: Smi = None,
    boot: Boot = "",
    failing: Failing = None,
    form: Form = Format.TEXT,
) -> None:
    """Replay a recorded kernel log: its faults and repairs.

    Each step of a repair succeeds unless --failing names it, and the node has no jobs.
    """
    from landbridge import timestamps
    from landbridge.catalog.hardware.gpu_health import gpu_health
    from landbridge.ops.gpu_health.replay import replay

    unknown = [name for name in failing or () if name not in ("reset", "reboot", "retest")]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: steps are reset, reboot and retest", param_hint="--failing")
    start = timestamps.parse_iso(boot) if boot else 0.0
    if start is None:
        raise typer.BadParameter(f"{boot} is not a time such as 2026-11-26T06:00:00Z", param_hint="--boot")
    reading = _reading(smi)
    kernel_log = _log(_text(log), node, start, reading)
    observations = list(kernel_log.observations)
    if reading is not None:
        last = max((entry.at for entry in observations), default=start)
        observations += reading.observations(node, last)
    changes, journal = replay(observations, gpu_health(), failing=failing or ())
    if form is Format.JSON:
        print_json({"observations": observations, "changes": changes, "repairs": journal.repairs})
        return
    for entry in kernel_log.observations:
        typer.echo(
            f"{timestamps.iso(entry.at)}  {entry.kind} {entry.detail}, {entry.action or 'withdrawn'}  {entry.gpu}"
        )
    for change in changes:
        steps = f"  [{', '.join(change.actions)}]" if change.actions else ""
        typer.echo(f"{timestamps.iso(change.at)}  {change.before} -> {change.after}  {change.detail}{steps}")
    if kernel_log.ignored_lines:
        typer.echo(f"{kernel_log.ignored_lines} lines of the driver have a time of unknown form", err=True)
    if not observations:
        typer.echo("no fault that requires an action")


def rma(
    node: Node,
    stack: Stack = None,
    file: File = None,
    smi: Smi = None,
    log: Recorded = None,
    boot: Boot = "",
    bug_report: Report = None,
    output: Output = None,
    form: Form = Format.TEXT,
) -> None:
    """Write a report on faulty GPUs for the hardware support.

    Without --smi and --log they are read from the node. Without -s both have to be given.
    """
    from landbridge import timestamps
    from landbridge.ops.gpu_health.journal import load_journal
    from landbridge.ops.gpu_health.rma import rma_report, rma_text
    from landbridge.ops.gpu_health.values import HealthJournal, HealthRecord

    if stack is None and file is None and (smi is None or log is None):
        raise typer.BadParameter("give an environment (-s), or --smi and --log", param_hint="-s")
    journal, retest = HealthJournal(), None
    smi_text = _text(smi) if smi is not None else ""
    log_text = _text(log) if log is not None else ""
    if stack is not None or file is not None:
        environment = require(stack, file)
        folder, _ = opened(environment)
        journal = load_journal(folder)
        path = folder / f"retest-{node}.json"
        retest = json.loads(path.read_text()) if path.exists() else None
        smi_text = smi_text or _of_node(environment, node, ["nvidia-smi", "-q", "-x"])
        log_text = log_text or _of_node(
            environment,
            node,
            ["journalctl", "--dmesg", "--boot=all", "--output=short-iso", "--no-pager", "--grep=NVRM|SXid"],
        )
    reading = _parsed(smi_text) if smi_text else None
    start = timestamps.parse_iso(boot) if boot else 0.0
    kernel_log = _log(log_text, node, start or 0.0, reading)
    record = journal.records.get(node, HealthRecord(node))
    report = rma_report(node, record, reading, kernel_log, retest, journal.repairs, time.time(), bug_report)
    text = json.dumps(report, indent=2) + "\n" if form is Format.JSON else rma_text(report)
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text)
        typer.echo(f"{output} is written")


def _of_node(environment: Any, node: str, words: list[str]) -> str:
    """Return the output of a command on the node; exit with status 2 for a node of another site, empty if it fails."""
    from landbridge import hostlist
    from landbridge.ops.gpu_health.observe import over_ssh
    from landbridge.ops.scontrol import ssh
    from landbridge.plan.network.hosts import service_hosts

    if node not in {name for group in environment.node_groups for name in hostlist.expand(group.hosts)}:
        typer.echo(f"landbridge: {node} is not a node of the site: give --smi and --log", err=True)
        raise typer.Exit(2)
    privileged = service_hosts(environment).access.user != "root"
    text = over_ssh({node: ssh(environment, node)}, privileged)(node, words)
    if text is None:
        typer.echo(f"landbridge: {node}: {words[0]} did not answer; the report lacks it", err=True)
    return text or ""


def _log(text: str, node: str, boot: float, reading: "SmiReading | None") -> "KernelLog":
    from landbridge.ops.gpu_health.kernel_log import read_log

    return read_log(text, node, boot, reading.uuids if reading is not None else None)


def _reading(path: Path | None) -> "SmiReading | None":
    return _parsed(_text(path)) if path is not None else None


def _parsed(text: str) -> "SmiReading":
    """Return the reading; exit with status 2 for other text."""
    from landbridge.ops.gpu_health.smi_xml import SmiError, read_smi

    try:
        return read_smi(text)
    except SmiError as error:
        typer.echo(f"landbridge: nvidia-smi: {error}", err=True)
        raise typer.Exit(2) from None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError as error:
        typer.echo(f"landbridge: {path}: {error.strerror}", err=True)
        raise typer.Exit(2) from None
