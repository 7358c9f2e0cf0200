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
    from landbridge.catalog import Platform
    from landbridge.environment import Environment

Nodes = Annotated[
    str | None, typer.Argument(help="Nodes in Slurm's notation; default: all nodes of the site.", metavar="NODES")
]
Only = Annotated[list[str] | None, typer.Option("--rung", help="Only this check; repeat for several.")]
Reservation = Annotated[str, typer.Option("--reservation", help="Slurm reservation that holds the nodes.")]
At = Annotated[str | None, typer.Option("--at", help="Host that starts the jobs; default: the first login host.")]
Wait = Annotated[int, typer.Option("--wait", min=1, help="Seconds to wait for other jobs on the nodes.")]
Thresholds = Annotated[
    Path | None, typer.Option("--thresholds", help="YAML file with the site's own thresholds: storage.read: 20 (GB/s).")
]
Storage = Annotated[
    str, typer.Option("--storage", help="Folder for the storage check; default: the job's own scratch.")
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
    Path | None, typer.Option("--from", help="Judge the output that --save wrote there; run no program.")
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
    """Run the acceptance checks on nodes. Exit status: 0 accepted, 1 a check failed, 2 a check could not be judged."""
    from landbridge.acceptance.climb import Ladder, climb
    from landbridge.acceptance.result import EXIT_CODES
    from landbridge.acceptance.rungs import AcceptanceSettings

    environment = require(stack, file)
    settings = AcceptanceSettings(storage=storage, size=size, level=level, mpi=mpi, programs=programs)
    ladder = Ladder(
        environment=environment.name,
        platforms=_platforms(environment, nodes),
        run=lambda rung, nodes: runner(rung, nodes),
        settings=settings,
        given=_given(thresholds),
        tell=_line if form is Format.TEXT else lambda outcome: None,
        rungs=_rungs(rung),
    )
    counts = {name: platform.gpus.count for name, platform in ladder.platforms.items()}
    runner = _runner(
        environment, environment_path(stack, file), counts, settings, (at, wait, reservation), save, earlier
    )
    report = climb(ladder)
    _print(report, form)
    raise typer.Exit(EXIT_CODES[report.status])


def _platforms(environment: "Environment", nodes: str | None) -> "dict[str, Platform]":
    from landbridge import hostlist
    from landbridge.plan.ansible.acceptance import platform_of

    everyone = [name for group in environment.node_groups for name in hostlist.expand(group.hosts)]
    try:
        names = list(dict.fromkeys(hostlist.expand(nodes))) if nodes else everyone
    except hostlist.HostlistError as error:
        raise typer.BadParameter(error.reason, param_hint="NODES") from None
    platforms = {name: platform for name in names if (platform := platform_of(environment, name)) is not None}
    strange = [name for name in names if name not in platforms]
    if strange or not platforms:
        typer.echo(f"landbridge: {', '.join(strange) or 'none'}: no machine of the site's", err=True)
        raise typer.Exit(2)
    return platforms


def _rungs(names: list[str] | None) -> "tuple[Rung, ...]":
    from landbridge.acceptance.rungs import RUNGS

    rung_names = [rung.name for rung in RUNGS]
    strange = [name for name in names or () if name not in rung_names]
    if strange:
        raise typer.BadParameter(f"{', '.join(strange)}: the rungs are {', '.join(rung_names)}", param_hint="--rung")
    return tuple(rung for rung in RUNGS if not names or rung.name in names)


def _given(path: Path | None) -> dict[str, float]:
    """Return the site's own thresholds; the program ends for a file of another form."""
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
    where: tuple[str | None, int, str],
    save: Path | None,
    earlier: Path | None,
) -> "Runner":
    from landbridge.acceptance.runners import EXAMPLE, NodeRunner, keeping, recorded, through
    from landbridge.plan.network.hosts import service_hosts

    if earlier is not None:
        return recorded(earlier)
    host, wait, reservation = where
    served = service_hosts(environment)
    chosen = host or served.logins[0]
    if chosen not in served.names:
        raise typer.BadParameter(f"{chosen} is no service host of the site", param_hint="--at")
    example = next((folder / EXAMPLE for folder in path.resolve().parents if (folder / EXAMPLE).is_dir()), None)
    runner = through(NodeRunner(environment, chosen, counts, settings, example, wait, reservation))
    return keeping(runner, save) if save is not None else runner


def _line(outcome: "AcceptanceOutcome") -> None:
    """Print one check on some nodes, with the threshold when it failed."""
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
    told = ("measured", "derived")
    sources = {check.source for outcome in report.outcomes for check in outcome.checks if check.confidence in told}
    for source in sorted(sources):
        typer.echo(f"from: {source}")
    typer.echo(f"{hostlist.compress(report.nodes)}: {report.status}")
