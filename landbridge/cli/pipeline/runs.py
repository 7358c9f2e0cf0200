"""Commands `landbridge pipeline run`, `status`, `why`, `cancel` and `remove`: files in the user's folder, which the service reads."""

import getpass
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from landbridge.cli.common import Format, print_findings, print_json
from landbridge.cli.pipeline.check import Folder, Form, PipelineFile, checked

if TYPE_CHECKING:
    from landbridge.pipelines.runs.record import RunRecord
    from landbridge.pipelines.runs.request import PipelineSource

RunName = Annotated[str, typer.Argument(metavar="RUN", help="Name of the run, as `run` and `status` print it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (run, status, why, cancel, remove):
        app.command()(command)


def run(
    path: PipelineFile,
    commit: Annotated[
        str | None, typer.Option(help="Commit that starts the run; a commit starts one run only.")
    ] = None,
    dataset: Annotated[list[str] | None, typer.Option(metavar="NAME:VERSION", help="Version of an input.")] = None,
    on_triggers: Annotated[
        bool,
        typer.Option("--on-triggers", help="Start no run now; start one each time that a trigger of the file is due."),
    ] = False,
    folder: Folder = None,
    form: Form = Format.TEXT,
) -> None:
    """Start a run of a pipeline as its owner.

    The definition and the scripts are copied as they are now. Exit status: 0, 1 for findings, 2 if it cannot start.
    Example: landbridge pipeline run pipelines/digits.yaml --dataset digits:v3
    """
    from landbridge.pipelines.runs.request import RequestError, RunRequest
    from landbridge.pipelines.service import queue

    source, findings = checked(path, folder)
    if source is None:
        print_findings(findings)
        raise typer.Exit(2 if any(finding.rule == "unreadable-file" for finding in findings) else 1)
    if source.definition.owner != getpass.getuser():
        _refuse(f"the owner of {source.definition.name} is {source.definition.owner}: run it as this user")
    root = Path.home() / queue.FOLDER
    if on_triggers:
        queue.write_json(root / queue.DEFINITIONS / f"{source.definition.name}.json", _definition(source))
        _answer(form, {"pipeline": source.definition.name}, f"{source.definition.name} runs when a trigger is due")
        return
    kind = "commit" if commit else "hand"
    if kind not in {trigger.kind for trigger in source.definition.triggers}:
        _refuse(f"{source.definition.name} has no trigger {{kind: {kind}}}")
    versions = dict(each.partition(":")[::2] for each in dataset or ())
    try:
        data = RunRequest(source, "commit" if commit else "hand", commit or repr(time.time()), time.time(), versions)
        request = RunRequest.parse(data.to_json())
    except RequestError as error:
        _refuse(f"{error}: give --dataset NAME:VERSION")
    known = [kind for kind in (queue.REQUESTS, queue.ENDED) if (root / kind / f"{request.name}.json").exists()]
    if not known:
        queue.write_json(root / queue.REQUESTS / f"{request.name}.json", request.to_json())
    _answer(form, {"run": request.name, "is_new": not known}, request.name)


def status(form: Form = Format.TEXT) -> None:
    """List the user's runs with their steps.

    Example: landbridge pipeline status --format json
    """
    from landbridge.pipelines.service import queue

    records = _records()
    waiting = [name for name in queue.names_in(Path.home() / queue.FOLDER / queue.REQUESTS) if name not in records]
    if form is Format.JSON:
        rows = [_row(record) for record in records.values()] + [{"run": name, "state": "requested"} for name in waiting]
        print_json({"runs": rows})
        return
    for record in records.values():
        steps = ", ".join(f"{name} {step.state.value}" for name, step in record.steps.items())
        typer.echo(f"{record.name}  {record.outcome or 'live'}  {record.usd:.2f} USD  {steps}")
    for name in waiting:
        typer.echo(f"{name}  requested")


def why(name: RunName, form: Form = Format.TEXT) -> None:
    """Tell what each step of a run waits for, or why it ended.

    Exit status: 0, or 2 if there is no such run. Example: landbridge pipeline why digits-0a1b2c3d4e
    """
    from landbridge.pipelines.service import queue

    record = _records().get(name)
    if record is None:
        refused = Path.home() / queue.FOLDER / queue.REFUSED / f"{name}.json"
        if refused.exists():
            _refuse(f"{name} was refused: {queue.read_json(refused)['reason']}")
        is_requested = (Path.home() / queue.FOLDER / queue.REQUESTS / f"{name}.json").exists()
        _refuse(f"the service has not read {name} yet" if is_requested else f"there is no run {name}")
    if form is Format.JSON:
        print_json(_row(record))
        return
    trigger = f"{record.request.trigger} {record.request.key}"
    typer.echo(f"{record.name}: {record.outcome or 'live'}, started by {trigger}")
    for step_name, step in record.steps.items():
        job = f" job {step.job}" if step.job is not None else ""
        typer.echo(f"  {step_name}: {step.state.value}{job}{f': {step.reason}' if step.reason else ''}")


def cancel(name: RunName, form: Form = Format.TEXT) -> None:
    """Cancel a run and its jobs.

    Exit status: 0, or 2 if there is no live run of this name. Example: landbridge pipeline cancel digits-0a1b2c3d4e
    """
    from landbridge.pipelines.service import queue

    root = Path.home() / queue.FOLDER
    if name not in queue.names_in(root / queue.REQUESTS):
        _refuse(f"there is no live run {name}")
    queue.write_json(root / queue.CANCELS / f"{name}.json", {})
    _answer(form, {"run": name}, f"{name} is cancelled at the next pass of the service")


def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a pipeline that `run --on-triggers` registered.")
    ],
    form: Form = Format.TEXT,
) -> None:
    """Remove the registration of a pipeline's triggers.

    Live runs of the pipeline go on. Exit status: 0, or 2 if it is not registered.
    Example: landbridge pipeline remove digits
    """
    from landbridge.pipelines.service import queue

    folder = Path.home() / queue.FOLDER / queue.DEFINITIONS
    registered = queue.names_in(folder)
    if name not in registered:
        known = f"; registered: {', '.join(registered)}" if registered else ""
        _refuse(f"{name} is not registered{known}")
    (folder / f"{name}.json").unlink(missing_ok=True)
    _answer(form, {"pipeline": name}, f"{name} starts no run by a trigger any more")


def _definition(source: "PipelineSource") -> dict[str, Any]:
    from landbridge.pipelines.reconcile.triggers import wanted_datasets

    datasets = sorted(wanted_datasets(source.definition))
    return {**source.to_json(), "registered": time.time(), "datasets": datasets}


def _records() -> "dict[str, RunRecord]":
    """Return the user's runs by name, oldest first, with those that have ended."""
    from landbridge.pipelines.runs.record import RunRecord
    from landbridge.pipelines.service import queue

    records: dict[str, RunRecord] = {}
    for kind in (queue.RECORDS, queue.ENDED):
        folder = Path.home() / queue.FOLDER / kind
        for name in queue.names_in(folder):
            try:
                records[name] = RunRecord.parse(queue.read_json(folder / f"{name}.json"))
            except (OSError, ValueError, KeyError, TypeError):
                continue
    return dict(sorted(records.items(), key=lambda item: (item[1].created, item[0])))


def _row(record: "RunRecord") -> dict[str, Any]:
    data = record.to_json()
    names_of_row = ("created", "ended", "outcome", "reason", "steps")
    request = {"trigger": record.request.trigger, "key": record.request.key}
    return {"run": record.name, "state": record.outcome or "live", "usd": record.usd, **request} | {
        name: data[name] for name in names_of_row
    }


def _answer(form: Format, data: dict[str, Any], text: str) -> None:
    if form is Format.JSON:
        print_json(data)
    else:
        typer.echo(text)


def _refuse(text: str) -> NoReturn:
    typer.echo(f"error: {text}", err=True)
    raise typer.Exit(2)
