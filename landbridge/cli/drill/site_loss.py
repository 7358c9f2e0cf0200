"""Command `landbridge drill site-loss`: copies of what a site holds, and the steps to a control plane in AWS and back."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, environment_path, print_json
from landbridge.cli.residency.common import checked

if TYPE_CHECKING:
    from landbridge.catalog.site_loss import Way
    from landbridge.environment import Environment
    from landbridge.ops.site_loss import SiteLossDrill


class WayName(StrEnum):
    """Direction of the drill."""

    RECOVERY = "recovery"
    RETURN = "return"


Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Run = Annotated[
    WayName | None,
    typer.Option(
        help="Run the steps of the recovery (to a control plane in AWS) or of the return (to the rebuilt site)."
    ),
]
Dumps = Annotated[Path, typer.Option(help="Folder of the dumps on this machine.")]
Done = Annotated[list[str] | None, typer.Option(help="Step of an operator that is done; may be repeated.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("site-loss")(site_loss)


def site_loss(
    stack: Stack = None,
    file: File = None,
    form: Form = Format.TEXT,
    run: Run = None,
    dumps: Dumps = Path("dumps"),
    done: Done = None,
) -> None:
    """Print what a site's loss would destroy, where its copies are, and the steps to AWS and back.

    An asset without a copy outside the site is a finding. The recovery point is computed from the timers of the dumps, and the recovery time is the sum of the steps that the lab has measured. Makes no network call and
    changes nothing, except with --run: then it runs the steps in their order, up to one that an operator has to do and confirms with --done. It writes the beginning and the end of each step into a file of the state folder, so that a
    repeated command goes on after an interruption, and shows the measured times. Two control planes never run: a step that starts one needs the fence of the other.
    Exit status: 0 every asset that a recovery needs has a copy, or all steps are done, 1 one has none, or a step is next, 2 could not run.
    Example: landbridge drill site-loss -s hybrid
    """
    from landbridge.cli.display.excerpt import print_with_lines
    from landbridge.findings import has_errors

    loaded, environment = checked(stack, file)
    # Ansible takes a relative path as one beside its playbooks.
    dumps = dumps.absolute()
    drill = _drill(environment, environment_path(stack, file), dumps)
    if run is not None:
        raise typer.Exit(_run(environment, drill, run.value, dumps, done or []))
    findings = tuple(map(loaded.place, drill.findings()))
    status = 1 if has_errors(findings) else 0
    if form is Format.JSON:
        listed = [finding.to_dict() for finding in findings]
        print_json({"environment": environment.name, **drill.to_dict(), "findings": listed})
        raise typer.Exit(status)
    if not drill.steps:
        typer.echo(f"{environment.name} has no services on-prem: docs/explanation/services.md has its recovery")
        raise typer.Exit(0)
    print_with_lines(findings, loaded.path)
    _print(drill)
    raise typer.Exit(status)


def _drill(environment: "Environment", path: Path, dumps: Path) -> "SiteLossDrill":
    from landbridge.catalog.site_loss import WAYS
    from landbridge.ops.site_loss import site_loss as drill_of
    from landbridge.ops.site_loss.dumps import slurm_dump
    from landbridge.ops.site_loss.records import read

    progress = {way: read(_records(environment, way)) for way in WAYS}
    newest = slurm_dump(dumps)
    return drill_of(environment, file=str(path), dumps=str(dumps), slurm_dump=newest, progress=progress)


def _records(environment: "Environment", way: "Way") -> Path:
    from landbridge.paths import state_dir

    return state_dir(environment.name) / f"site-loss-{way}.jsonl"


def _run(environment: "Environment", drill: "SiteLossDrill", way: "Way", dumps: Path, done: list[str]) -> int:
    from landbridge.ops.site_loss.control_plane import control_plane
    from landbridge.ops.site_loss.records import read
    from landbridge.ops.site_loss.run import StepRun
    from landbridge.ops.site_loss.run import run as run_steps
    from landbridge.ops.site_loss.steps import planned_steps, unknown

    steps = drill.steps.get(way) or planned_steps(way, {})
    for name in unknown(steps, done):
        typer.echo(f"{name} is not a step: {', '.join(step.name for step in steps)}", err=True)
        return 2
    records = _records(environment, way)
    step_run = StepRun(way, steps, records, dumps, control_plane(environment, records))
    outcome = run_steps(step_run, done, typer.echo)
    if outcome.problem:
        typer.echo(f"error: {outcome.problem}", err=True)
        return 1
    if outcome.waits_for is not None:
        step = outcome.waits_for
        typer.echo(f"next: {step.facts.text}\n   {step.command}\nrepeat with --done {step.name}")
        return 1
    measured = read(records).to_dict()
    typer.echo(
        f"recovery time {measured['recovery_seconds']} s, recovery point {measured['recovery_point_seconds']} s before it"
    )
    return 0


def _print(drill: "SiteLossDrill") -> None:
    for asset in drill.assets:
        hours = f", at most {asset.lost_hours:g} h are lost" if asset.lost_hours else ""
        copy = f"{asset.copy.place}{'' if asset.copy.locked else ' (not locked)'}{hours}" if asset.copy else "no copy"
        typer.echo(f"{asset.name}: {copy}")
    for way, steps in drill.steps.items():
        typer.echo(f"\n{way}:")
        for number, step in enumerate(steps, start=1):
            duration = f" [{step.facts.seconds:g} s in the lab]" if step.facts.seconds is not None else ""
            times = drill.progress[way].step(step.name)
            documented = step.facts.documented
            at_most = f" [at most {documented.seconds:g} s: {documented.content}]" if documented is not None else ""
            here = f" [{times.seconds:g} s here]" if times is not None and times.seconds is not None else ""
            typer.echo(f"{number}. {step.name}: {step.facts.text}{duration}{at_most}{here}")
            if step.command:
                typer.echo(f"   {step.command}")
    typer.echo(f"recovery point {drill.lost_hours:g} h; recovery time {drill.duration('recovery')}")
    typer.echo(f"way back {drill.duration('return')}")
