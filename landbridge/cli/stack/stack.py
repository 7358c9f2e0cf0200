"""Commands `landbridge up`, `preview`, `refresh`, `destroy` and `outputs`: the AWS resources, with Pulumi."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from landbridge.cli.common import File, Format, Layer, Stack, environment_path, print_findings, print_json, require
from landbridge.cli.stack.impact import Lose, refused, show

if TYPE_CHECKING:
    from landbridge.realise.pulumi import OperationResult

T = TypeVar("T")
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; without it the changes are shown first.")]

Refresh = Annotated[
    bool, typer.Option("--refresh", help="First update the state from AWS, and rebuild missing resources.")
]
TerminateNodes = Annotated[
    bool, typer.Option("--terminate-nodes", help="End running nodes, image builders and training jobs first.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (up, preview, refresh, destroy, outputs):
        app.command()(command)


def up(
    stack: Stack = None,
    file: File = None,
    yes: Yes = False,
    refresh: Refresh = False,
    lose: Lose = None,
    layer: Layer = None,
    form: Form = Format.TEXT,
) -> None:
    """Build the environment in AWS. Writes its outputs for Ansible and the burst controller.

    First it prints the effect on jobs and data (`landbridge impact`). A change that AWS refuses is refused, also with
    --yes; so is one that would lose data, unless each resource that loses data is given with --lose.
    """
    if not yes:
        _require_terminal("up")
    _settle(stack, file, layer)
    _show_impact(stack, file, yes, lose or [], layer, form)
    if not yes:
        typer.confirm("Build this?", abort=True, err=True)
    _report(_operate("up", stack, file, form, layer=layer, refresh=refresh), form)


def _settle(stack: str | None, file: Any, layer: Any) -> None:
    """Import resources of an interrupted operation into the state, and print them; exit if AWS cannot be queried."""
    from landbridge.aws_api.refusal import AwsRefusal, finding_of
    from landbridge.cli.stack.sweep import connect
    from landbridge.live.recovery import recover
    from landbridge.realise import pulumi
    from landbridge.realise.steps import Message

    environment = require(stack, file)
    try:
        settled = _guarded(
            lambda: pulumi.settle(
                environment,
                environment_path(stack, file),
                lambda begun, ids: recover(lambda region: connect(environment, region), begun, ids),
                lambda event: typer.echo(event.text, err=True) if isinstance(event, Message) else None,
                layer=layer and layer.value,
            )
        )
    except AwsRefusal as refused:
        print_findings([finding_of(refused, "resources of an interrupted operation")])
        raise typer.Exit(2) from None
    for urn, change in sorted(settled.taken_in.items()):
        typer.echo(f"imported: {urn.rsplit('::', 1)[-1]} is {change}, created by an earlier operation", err=True)
    for urn in settled.absent:
        typer.echo(f"absent: {urn.rsplit('::', 1)[-1]}, which an earlier operation had begun to create", err=True)


def _show_impact(stack: str | None, file: Any, yes: bool, lose: list[str], layer: Any, form: Format) -> None:
    """Print the planned steps; exit if data would be lost without a --lose option for it."""
    from landbridge.ops.impact import report
    from landbridge.realise import pulumi

    environment = require(stack, file)
    # Before the first `up` no data can be lost, so the impact is not computed.
    if yes and not _guarded(lambda: pulumi.remembered(environment, environment_path(stack, file))):
        return
    preview = _operate("preview", stack, file, form, layer=layer)
    impact_report = report(preview.ahead, lose)
    if not yes:
        _report(preview, Format.TEXT)
    if not yes or impact_report.refused:
        show(impact_report)
    if refused(impact_report):
        raise typer.Exit(1)


def preview(stack: Stack = None, file: File = None, layer: Layer = None, form: Form = Format.TEXT) -> None:
    """Show the changes that `up` would make."""
    _report(_operate("preview", stack, file, form, layer=layer), form)


def refresh(stack: Stack = None, file: File = None, layer: Layer = None, form: Form = Format.TEXT) -> None:
    """Update Pulumi's state from AWS."""
    _settle(stack, file, layer)
    _report(_operate("refresh", stack, file, form, layer=layer), form)


def destroy(
    stack: Stack = None,
    file: File = None,
    yes: Yes = False,
    terminate_nodes: TerminateNodes = False,
    layer: Layer = None,
    form: Form = Format.TEXT,
) -> None:
    """Remove all resources that `up` has built. With aws.protect, buckets, keys and secrets stay.

    While nodes, image builders or training jobs run it lists them and removes nothing: exit status 1. Afterwards it lists resources that
    remain in AWS: exit status 1 if one of them holds no data (`landbridge sweep`).
    """
    from landbridge.cli.stack.running import end_running
    from landbridge.cli.stack.sweep import after_destroy

    subject = f"the {layer.value}" if layer else "everything"
    subject += ", and end the running nodes with their jobs," if terminate_nodes else ""
    if not yes:
        _require_terminal("destroy")
        typer.confirm(f"Remove {subject} of {stack or file} in AWS?", abort=True, err=True)
    _settle(stack, file, layer)
    environment, path = require(stack, file), environment_path(stack, file)
    end_running(environment, path, layer and layer.value, terminate=terminate_nodes)
    try:
        _report(_operate("destroy", stack, file, form, layer=layer), form)
    except typer.Exit:
        after_destroy(environment, path)
        raise
    if after_destroy(environment, path):
        raise typer.Exit(1)


def outputs(stack: Stack = None, file: File = None) -> None:
    """Print the stack's outputs as JSON, without secrets."""
    from landbridge.realise import pulumi

    environment = require(stack, file)
    stack_outputs = _guarded(lambda: pulumi.outputs(environment, environment_path(stack, file)))
    if stack_outputs is None:
        typer.echo(f"{environment.name}: nothing has been built", err=True)
        raise typer.Exit(1)
    print_json(stack_outputs.public())


def _operate(
    operation: str, stack: str | None, file: Any, form: Format, *, layer: Any = None, **options: bool
) -> "OperationResult":
    from landbridge.cli.display.stack import StackDisplay
    from landbridge.realise import pulumi

    environment = require(stack, file)
    display: AbstractContextManager[Any] = StackDisplay(operation, environment.name)
    with display as show:
        act: Callable[..., OperationResult] = getattr(pulumi, operation)
        return _guarded(
            lambda: act(environment, environment_path(stack, file), show, layer=layer and layer.value, **options)
        )


def _guarded(act: Callable[[], T]) -> T:
    from landbridge.realise.pulumi import PulumiFailed

    try:
        return act()
    except PulumiFailed as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None


def _require_terminal(operation: str) -> None:
    if not sys.stdin.isatty():
        typer.echo(f"{operation} changes resources: pass --yes if there is no terminal for a confirmation", err=True)
        raise typer.Exit(2)


def _report(result: "OperationResult", form: Format) -> None:
    if form is Format.JSON:
        print_json(
            {
                "operation": result.operation,
                "environment": result.environment,
                "changes": dict(result.changes),
                "seconds": round(result.seconds, 1),
                "outputs": result.outputs.public() if result.outputs else None,
            }
        )
        return
    counts = ", ".join(f"{count} {operation}" for operation, count in sorted(result.changes.items()))
    typer.echo(f"{result.operation} {result.environment}: {counts or 'nothing'} ({result.seconds:.0f} s)")
