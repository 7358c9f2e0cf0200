"""Commands `landbridge idle list` and `step`."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, TimerMetrics, print_json, require

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.idle_gpus.judge import IdleJob
    from landbridge.ops.idle_gpus.policy import IdleDecision, IdleJournal

Jobs = Annotated[Path | None, typer.Option("--jobs", help="Recorded output of scontrol show jobs --json.")]
Samples = Annotated[
    Path | None,
    typer.Option("--samples", help="Folder with NODE.jsonl: recorded output of landbridge-node-health samples."),
]
At = Annotated[str, typer.Option("--at", help="End of the window (ISO 8601), for recorded samples; default: now.")]
Run = Annotated[bool, typer.Option("--run", help="Carry out the actions; without it they are only printed.")]
Rate = Annotated[
    float | None, typer.Option("--usd-per-gpu-hour", min=0, help="Price of a GPU-hour, for the ledger of savings.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(idle: typer.Typer) -> None:
    """Add the commands."""
    idle.command("list")(list_idle)
    idle.command()(step)


def list_idle(
    stack: Stack = None,
    file: File = None,
    jobs: Jobs = None,
    samples: Samples = None,
    at: At = "",
    form: Form = Format.TEXT,
) -> None:
    """List jobs with idle GPUs in the window. Exit status 1 if there is one."""
    environment = require(stack, file)
    idle_jobs, missing = _judged(environment, jobs, samples, _time(at))
    if form is Format.JSON:
        print_json([{**_row(idle), "text": idle.text} for idle in idle_jobs])
    else:
        for idle in idle_jobs:
            row = _row(idle)
            typer.echo(f"{row['job']:<12} {row['user']:<12} {row['account']:<12} {row['kind']:<12} {idle.text}")
        if not idle_jobs:
            typer.echo("no job with idle GPUs")
    _warn(missing)
    raise typer.Exit(1 if idle_jobs else 0)


def step(
    stack: Stack = None,
    file: File = None,
    run: Run = False,
    usd_per_gpu_hour: Rate = None,
    metrics: TimerMetrics = None,
) -> None:
    """Print or carry out the actions on jobs with idle GPUs.

    The first is a notice; the policy's action follows after the grace time.
    """
    from landbridge.cli.node.common import scontrol_of
    from landbridge.ops.idle_gpus.act import append_ledger, carry_out, load_notices, save_notices
    from landbridge.ops.scontrol import over_ssh
    from landbridge.ops.timer_metrics import idle_samples, write_timer
    from landbridge.paths import state_dir

    environment, now = require(stack, file), time.time()
    folder = state_dir(environment.name)
    idle_jobs, missing = _judged(environment, None, None, now)
    decisions, journal = _decided(environment, idle_jobs, load_notices(folder), now)
    for decision in decisions:
        job = decision.idle.job
        note = f" ({decision.exemption})" if decision.exemption else ""
        typer.echo(f"{job.id:<12} {job.user:<12} {decision.action:<8} {decision.text}{note}")
    errors: dict[str, str] = {}
    if run:
        # Before the actions: an interrupted run never shortens a grace time.
        save_notices(folder, journal)
        errors = carry_out(decisions, scontrol_of(stack, file), over_ssh(environment, "scancel"))
        append_ledger(folder, decisions, errors, now, usd_per_gpu_hour)
    write_timer(metrics, environment, "idle", time.time(), len(missing), idle_samples(idle_jobs))
    for name, error in errors.items():
        typer.echo(f"{name}: {error}", err=True)
    _warn(missing)
    raise typer.Exit(1 if errors else 0)


def _decided(
    environment: "Environment", idle_jobs: "tuple[IdleJob, ...]", journal: "IdleJournal", now: float
) -> "tuple[tuple[IdleDecision, ...], IdleJournal]":
    from landbridge.catalog.hardware.idle_gpus import idle_gpus
    from landbridge.ops.idle_gpus.policy import IdleLimits, decide
    from landbridge.plan.slurm.jobs.workloads import JobLabels, workload_of

    settings, facts = environment.scheduler.idle_gpus, idle_gpus()
    grace, keep = settings.grace_minutes, settings.keep_hours
    limits = IdleLimits(
        facts.grace_minutes.value if grace is None else grace, facts.keep_hours.value if keep is None else keep
    )
    jobs = [idle.job for idle in idle_jobs]
    classes = {
        job.id: workload_of(environment, JobLabels(job.account, job.partition, job.qos, job.name, job.comment))
        for job in jobs
    }
    return decide(idle_jobs, settings, limits, classes, journal, now)


def _judged(
    environment: "Environment", jobs: Path | None, samples: Path | None, now: float
) -> "tuple[tuple[IdleJob, ...], tuple[str, ...]]":
    """Return the jobs with idle GPUs, and the nodes with jobs of which there are no samples."""
    from landbridge.catalog.hardware.idle_gpus import idle_gpus
    from landbridge.ops.idle_gpus.jobs import running_jobs
    from landbridge.ops.idle_gpus.judge import judge_jobs
    from landbridge.ops.idle_gpus.samples import by_gpu

    running = running_jobs(_jobs(environment, jobs))
    nodes = sorted({node for job in running for node in job.nodes})
    texts = _samples(environment, nodes, samples)
    facts = idle_gpus()
    window = environment.scheduler.idle_gpus.window_minutes or facts.window_minutes.value
    return judge_jobs(running, by_gpu(texts), facts, window, now), tuple(node for node in nodes if node not in texts)


def _jobs(environment: "Environment", path: Path | None) -> dict[str, Any]:
    """Return the jobs of Slurm or of a file; exit with status 2 without them."""
    from landbridge.ops.scontrol import ScontrolError, over_ssh

    try:
        text = path.read_text() if path is not None else over_ssh(environment)(["show", "jobs", "--json"])
        return dict(json.loads(text))
    except ScontrolError as error:
        message = str(error.args[0])
    except OSError as error:
        message = f"{path}: {error.strerror}"
    except ValueError:
        message = f"{path or 'scontrol show jobs'}: it is not JSON"
    typer.echo(f"landbridge: {message}", err=True)
    raise typer.Exit(2)


def _samples(environment: "Environment", nodes: list[str], folder: Path | None) -> dict[str, str]:
    """Return the samples of the nodes that have some: on-prem nodes over ssh, or files."""
    from concurrent.futures import ThreadPoolExecutor

    from landbridge import hostlist
    from landbridge.ops.gpu_health.observe import site_nodes
    from landbridge.plan.site.health import PROGRAM

    if folder is not None:
        files = {node: folder / f"{node}.jsonl" for node in nodes}
        return {node: path.read_text() for node, path in files.items() if path.exists()}
    onprem = {name for group in environment.node_groups for name in hostlist.expand(group.hosts)}
    names = [node for node in nodes if node in onprem]
    on_node = site_nodes(environment, names)
    with ThreadPoolExecutor(max_workers=16) as pool:
        texts = list(pool.map(lambda name: on_node(name, [PROGRAM, "samples"]), names))
    return {name: text for name, text in zip(names, texts, strict=True) if text}


def _row(idle: "IdleJob") -> dict[str, Any]:
    job = idle.job
    return {
        "job": job.id,
        "user": job.user,
        "account": job.account,
        "partition": job.partition,
        "kind": str(idle.kind),
        "gpus": len(job.gpus),
        "idle_gpus": [{"node": use.node, "gpu": use.gpu} for use in idle.idle],
    }


def _time(text: str) -> float:
    """Return the time of an option; now without one."""
    from landbridge import timestamps

    at = timestamps.parse_iso(text) if text else time.time()
    if at is None:
        raise typer.BadParameter(f"{text} is not a time such as 2026-11-26T06:00:00Z", param_hint="--at")
    return at


def _warn(nodes: tuple[str, ...]) -> None:
    if nodes:
        typer.echo(f"no samples of {', '.join(nodes)}: their jobs were not judged", err=True)
