"""Command `landbridge validate`: acceptance checks from the driver to a training step, with thresholds and their
sources.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, print_json, require

if TYPE_CHECKING:
    from landbridge.acceptance.climb import Runner
    from landbridge.acceptance.result import AcceptanceOutcome, AcceptanceReport
    from landbridge.acceptance.rungs import AcceptanceSettings, Rung
    from landbridge.catalog import InstanceType, Platform
    from landbridge.environment import Environment

Nodes = Annotated[
    str | None, typer.Argument(help="Nodes in Slurm's notation; default: all nodes of the site.", metavar="NODES")
]
Only = Annotated[list[str] | None, typer.Option("--rung", help="Only this check; repeat for several.")]
Reservation = Annotated[str, typer.Option("--reservation", help="Slurm reservation that holds the nodes.")]
At = Annotated[str | None, typer.Option("--at", help="Host that starts the jobs; default: the first login host.")]
Wait = Annotated[int, typer.Option("--wait", min=1, help="Seconds to wait for other jobs on the nodes.")]
Thresholds = Annotated[
    Path | None, typer.Option("--thresholds", help="YAML file with thresholds of the site: storage.read: 20 (GB/s).")
]
Storage = Annotated[
    str, typer.Option("--storage", help="Folder for the storage check; default: the job's scratch folder.")
]
Size = Annotated[str, typer.Option("--size", help="Size of each of the four test files, in fio's notation.")]
Level = Annotated[
    int, typer.Option("--level", min=1, max=4, help="Level of dcgmi diag; 3 takes minutes, 4 an hour or more.")
]
Mpi = Annotated[str, typer.Option("--mpi", help="srun's --mpi for programs that span nodes.")]
Programs = Annotated[
    str, typer.Option("--programs", help="Folder of nvbandwidth and nccl-tests on the nodes; default: PATH.")
]
Save = Annotated[Path | None, typer.Option("--save", help="Folder to save the programs' output in.")]
Earlier = Annotated[
    Path | None, typer.Option("--from", help="Evaluate the output that --save wrote into this folder; run no program.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(validate)


def validate(
    nodes: Nodes = None,
    stack: Stack = None,
    file: File = None,
    rung: Only = None,
    reservation: Reservation = "",
    at: At = None,
    wait: Wait = 600,
    thresholds: Thresholds = None,
    storage: Storage = "",
    size: Size = "8g",
    level: Level = 3,
    mpi: Mpi = "pmix",
    programs: Programs = "",
    save: Save = None,
    earlier: Earlier = None,
    form: Form = Format.TEXT,
) -> None:
    """Run the acceptance checks on nodes. Exit status: 0 accepted, 1 a check failed, 2 a check has no result."""
    from landbridge.acceptance.climb import Ladder, climb
    from landbridge.acceptance.result import EXIT_CODES
    from landbridge.acceptance.rungs import AcceptanceSettings

    environment = require(stack, file)
    settings = AcceptanceSettings(storage=storage, size=size, level=level, mpi=mpi, programs=programs)
    kinds, partition = _instances(environment, nodes)
    ladder = Ladder(
        environment=environment.name,
        platforms={} if kinds else _platforms(environment, nodes),
        instances=kinds,
        run=lambda rung, nodes: runner(rung, nodes),
        settings=settings,
        thresholds=_site_thresholds(thresholds),
        on_outcome=_line if form is Format.TEXT else lambda outcome: None,
        rungs=_rungs(rung),
    )
    counts = {name: platform.gpus.count for name, platform in ladder.platforms.items()}
    counts |= {name: kind.accelerators.count for name, kind in kinds.items() if kind.accelerators is not None}
    runner = _runner(
        environment, environment_path(stack, file), counts, settings, (at, wait, reservation, partition), save, earlier
    )
    report = climb(ladder)
    _print(report, form)
    raise typer.Exit(EXIT_CODES[report.status])


def _instances(environment: "Environment", nodes: str | None) -> "tuple[dict[str, InstanceType], str]":
    """Return the instance types of cloud nodes, and their pool's partition; no types for nodes of the site.

    The type is the pool's first one. Raises a usage error for nodes of several pools, or of a pool and the site.
    """
    from landbridge.catalog import instances
    from landbridge.plan.ansible.pool_acceptance import pool_of

    names = _names(nodes) if nodes else []
    pools = {name: pool for name in names if (pool := pool_of(environment, name)) is not None}
    if not pools:
        return {}, "onprem"
    first = next(iter(pools.values()))
    if len(pools) < len(names) or any(pool is not first for pool in pools.values()):
        raise typer.BadParameter("name nodes of one pool, or of the site", param_hint="NODES")
    kind = instances().get(first.instance)
    if kind is None:
        raise typer.BadParameter(f"the catalogue lacks {first.instance} of pool {first.name}", param_hint="NODES")
    return dict.fromkeys(names, kind), first.name


def _names(nodes: str) -> list[str]:
    from landbridge import hostlist

    try:
        return list(dict.fromkeys(hostlist.expand(nodes)))
    except hostlist.HostlistError as error:
        raise typer.BadParameter(error.reason, param_hint="NODES") from None


def _platforms(environment: "Environment", nodes: str | None) -> "dict[str, Platform]":
    from landbridge import hostlist
    from landbridge.plan.ansible.acceptance import platform_of

    all_nodes = [name for group in environment.node_groups for name in hostlist.expand(group.hosts)]
    names = _names(nodes) if nodes else all_nodes
    platforms = {name: platform for name in names if (platform := platform_of(environment, name)) is not None}
    unknown_names = [name for name in names if name not in platforms]
    if unknown_names or not platforms:
        typer.echo(f"landbridge: {', '.join(unknown_names) or 'none'}: not a node of the site", err=True)
        raise typer.Exit(2)
    return platforms


def _rungs(names: list[str] | None) -> "tuple[Rung, ...]":
    from landbridge.acceptance.rungs import RUNGS

    rung_names = [rung.name for rung in RUNGS]
    unknown_names = [name for name in names or () if name not in rung_names]
    if unknown_names:
        raise typer.BadParameter(
            f"{', '.join(unknown_names)}: the rungs are {', '.join(rung_names)}", param_hint="--rung"
        )
    return tuple(rung for rung in RUNGS if not names or rung.name in names)


def _site_thresholds(path: Path | None) -> dict[str, float]:
    """Return the thresholds of the site. Raises a usage error for an invalid file."""
    if path is None:
        return {}
    from landbridge import yaml_text

    try:
        data = yaml_text.load(path.read_text())
        return {str(key): float(value) for key, value in dict(data or {}).items()}
    except (OSError, yaml_text.BadYaml, TypeError, ValueError) as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--thresholds") from None


def _runner(
    environment: "Environment",
    path: Path,
    counts: dict[str, int],
    settings: "AcceptanceSettings",
    job_options: tuple[str | None, int, str, str],
    save: Path | None,
    earlier: Path | None,
) -> "Runner":
    from landbridge.acceptance.runners import EXAMPLE, NodeRunner, recorded, saving, srun_over_ssh
    from landbridge.plan.network.hosts import service_hosts

    if earlier is not None:
        return recorded(earlier)
    host, wait, reservation, partition = job_options
    services = service_hosts(environment)
    login_host = host or services.logins[0]
    if login_host not in services.names:
        raise typer.BadParameter(f"{login_host} is no service host of the site", param_hint="--at")
    example = next((folder / EXAMPLE for folder in path.resolve().parents if (folder / EXAMPLE).is_dir()), None)
    runner = srun_over_ssh(NodeRunner(environment, login_host, counts, settings, example, wait, reservation, partition))
    return saving(runner, save) if save is not None else runner


def _line(outcome: "AcceptanceOutcome") -> None:
    """Print one check on some nodes, with the threshold if it failed."""
    from landbridge import hostlist

    typer.echo(f"{outcome.status:<9} {outcome.rung:<11} {hostlist.compress(outcome.nodes):<24} {outcome.seconds:.0f} s")
    if outcome.message:
        typer.echo(f"            {outcome.message}")
    for check in outcome.checks:
        mark = {True: "ok", False: "NOT", None: "--"}[check.passed]
        typer.echo(f"            {mark:<4} {check.text}")


def _print(report: "AcceptanceReport", form: Format) -> None:
    from landbridge import hostlist

    if form is Format.JSON:
        print_json(report.json())
        return
    confidences = ("measured", "derived")
    sources = {
        check.source for outcome in report.outcomes for check in outcome.checks if check.confidence in confidences
    }
    for source in sorted(sources):
        typer.echo(f"from: {source}")
    typer.echo(f"{hostlist.compress(report.nodes)}: {report.status}")
