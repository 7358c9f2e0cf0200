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
    from landbridge.acceptance.site import AcceptanceSite
    from landbridge.environment import Environment

Nodes = Annotated[
    str | None, typer.Argument(help="Nodes in Slurm's notation; default: all nodes of the site.", metavar="NODES")
]
Only = Annotated[list[str] | None, typer.Option("--rung", help="Only this check; repeat for several.")]
Reservation = Annotated[str, typer.Option("--reservation", help="Slurm reservation that holds the nodes.")]
At = Annotated[
    str | None,
    typer.Option("--at", help="Host that starts the jobs; default: the first login host; without -s: this machine."),
]
Platforms = Annotated[
    list[str] | None,
    typer.Option("--platform", help="Without -s: platform of the nodes, or NODES=PLATFORM; repeatable."),
]
PartitionName = Annotated[
    str | None, typer.Option("--partition", help="Partition of the nodes; default: onprem, or that of the pool.")
]
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
Mpi = Annotated[
    str,
    typer.Option(
        "--mpi", help="Launcher of ranks on several nodes: mpirun, or a plugin of srun; auto: by the MPI of nccl-tests."
    ),
]
Programs = Annotated[
    str, typer.Option("--programs", help="Folder of nvbandwidth and nccl-tests on the nodes; default: PATH.")
]
Training = Annotated[str, typer.Option("--training", help="Folder of the Python environment of the training example.")]
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
    platform: Platforms = None,
    partition: PartitionName = None,
    reservation: Reservation = "",
    at: At = None,
    wait: Wait = 600,
    thresholds: Thresholds = None,
    storage: Storage = "",
    size: Size = "8g",
    level: Level = 3,
    mpi: Mpi = "auto",
    programs: Programs = "",
    training: Training = "/opt/landbridge/training",
    save: Save = None,
    earlier: Earlier = None,
    form: Form = Format.TEXT,
) -> None:
    """Run the acceptance checks on nodes. Exit status: 0 accepted, 1 a check failed, 2 a check has no result or no
    threshold.

    A site without an environment file names its nodes' platform and partition:
    landbridge validate 'node[01-04]' --platform hgx-h100 --partition gpu --at admin@login
    """
    from landbridge.acceptance.climb import Ladder, climb
    from landbridge.acceptance.result import EXIT_CODES
    from landbridge.acceptance.rungs import PROGRAMS, AcceptanceSettings

    if bool(platform) == (stack is not None or file is not None):
        raise typer.BadParameter("give either an environment (-s) or a platform of the nodes", param_hint="--platform")
    environment = None if platform else require(stack, file)
    site = _site(nodes, platform, environment, at, partition)
    settings = AcceptanceSettings(
        storage=storage, size=size, level=level, mpi=mpi, programs=programs, training=training
    )
    folder = Path.cwd() if environment is None else environment_path(stack, file).resolve().parent
    # Recorded output is judged as it is: single files of programs have no list of a node's programs.
    has_list = earlier is None or any(earlier.glob(f"{PROGRAMS.name}.*"))
    rungs = (PROGRAMS, *_rungs(rung)) if has_list else _rungs(rung)
    ladder = Ladder(
        environment=site.name,
        platforms=site.platforms,
        instances=site.instances,
        domains=site.domains,
        run=_runner(site, settings, folder, (wait, reservation), save, earlier),
        settings=settings,
        thresholds=site_thresholds(thresholds),
        on_outcome=_line if form is Format.TEXT else lambda outcome: None,
        rungs=rungs,
    )
    report = climb(ladder)
    _print(report, form)
    raise typer.Exit(EXIT_CODES[report.status])


def _site(
    nodes: str | None, platform: list[str] | None, environment: "Environment | None", at: str | None, queue: str | None
) -> "AcceptanceSite":
    """Return the nodes and the host that starts their jobs. Raises a usage error for a value that does not fit."""
    from landbridge.acceptance.site import SiteError, environment_site, roles_site

    try:
        if environment is None:
            return roles_site(nodes, platform or (), at, queue)
        return environment_site(environment, nodes, at, queue)
    except SiteError as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from None


def _rungs(names: list[str] | None) -> "tuple[Rung, ...]":
    from landbridge.acceptance.rungs import RUNGS

    rung_names = [rung.name for rung in RUNGS]
    unknown_names = [name for name in names or () if name not in rung_names]
    if unknown_names:
        raise typer.BadParameter(
            f"{', '.join(unknown_names)}: the rungs are {', '.join(rung_names)}", param_hint="--rung"
        )
    return tuple(rung for rung in RUNGS if not names or rung.name in names)


def site_thresholds(path: Path | None) -> dict[str, float]:
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
    site: "AcceptanceSite",
    settings: "AcceptanceSettings",
    folder: Path,
    job_options: tuple[int, str],
    save: Path | None,
    earlier: Path | None,
) -> "Runner":
    """Return the runner of the rungs. `folder`: a checkout or a folder in it, for the training example."""
    from landbridge.acceptance.runners import EXAMPLE, NodeRunner, recorded, saving, srun_runner

    if earlier is not None:
        return recorded(earlier)
    wait, reservation = job_options
    example = next((path / EXAMPLE for path in (folder, *folder.parents) if (path / EXAMPLE).is_dir()), None)
    host = (site.ssh, site.privileged)
    runner = srun_runner(NodeRunner(*host, site.gpus, settings, example, wait, reservation, site.partition))
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
    if report.without_threshold:
        typer.echo(f"not judged, because no threshold is known: {', '.join(report.without_threshold)}")
        typer.echo(
            "  fix: write your own in a file, as NAME: GB/s, and give it with --thresholds; 0 accepts any value."
        )
        typer.echo(
            "  Thresholds between nodes follow from their ports: hardware.adapters or hardware.wiring of the nodes."
        )
    typer.echo(f"{hostlist.compress(report.nodes)}: {report.status}")
