"""Operations on one Pulumi stack through the Automation API."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pulumi import automation as auto

from landbridge.environment import Environment
from landbridge.findings import Finding, FindingsError
from landbridge.plan.resource_change import ResourceChange
from landbridge.plan.stacks import PlannedStack, stacks_of_another_shape
from landbridge.realise.backend import (
    backend_variables,
    drop_dead_locks,
    drop_torn_attributes,
    has_local_stack,
    local_backend,
)
from landbridge.realise.project import write_project
from landbridge.realise.steps import Event, Message, Step, Summary, translate

OnEvent = Callable[[Event], None]
#: Outputs of a stack as plain values, including secrets.
Values = Mapping[str, Any]


class PulumiFailed(Exception):
    """Failure of a Pulumi operation. `messages`: Pulumi's messages, each with its resource; `ahead`: the changes that
    it had announced before.
    """

    def __init__(
        self, operation: str, messages: tuple[Message, ...], detail: str, ahead: tuple[ResourceChange, ...] = ()
    ) -> None:
        self.operation, self.messages, self.ahead, self.detail = operation, messages, ahead, detail
        lines = [
            f"{message.resource}: {message.text}" if message.resource else message.text
            for message in messages
            if message.severity == "error"
        ]
        super().__init__("\n".join(lines) or detail)

    def after(self, ahead: tuple[ResourceChange, ...]) -> "PulumiFailed":
        """Return the same error with the changes of the environment's earlier stacks before its own."""
        return PulumiFailed(self.operation, self.messages, self.detail, (*ahead, *self.ahead))


@dataclass
class Log:
    """Log of an operation: it forwards events, and records those that the result or an error needs."""

    forward: OnEvent
    steps: list[Step] = field(default_factory=list)
    ahead: list[ResourceChange] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)

    def __call__(self, raw: auto.EngineEvent) -> None:
        event = translate(raw)
        match event:
            case Step(phase="done" | "failed"):
                self.steps.append(event)
            case Step(phase="started", change=ResourceChange() as change):
                self.ahead.append(change)
            case Message():
                self.messages.append(event)
            case Summary(changes=changes):
                self.changes = changes
        if event is not None:
            self.forward(event)


@dataclass(frozen=True)
class Run:
    """Result of an operation on one stack."""

    stack: str
    log: Log
    seconds: float
    values: Values


def run(
    operation: str, environment: Environment, file: Path, planned: PlannedStack, on_event: OnEvent, **options: Any
) -> Run:
    """Run `up`, `preview`, `refresh` or `destroy` on one of the environment's stacks. Raises PulumiFailed, FindingsError."""
    stack, log, started = opened(environment, file, planned), Log(on_event), time.monotonic()
    drop_dead_locks(environment.name)
    try:
        getattr(stack, operation)(on_event=log, on_output=_ignore_line, color="never", **options)
    except auto.ConcurrentUpdateError as error:
        folder = stack.workspace.work_dir
        fix = f"wait for it; if it does not run any more: pulumi -C {folder} cancel -s {planned.name}"
        raise finding("stack-locked", "another update of this stack is running", fix) from error
    except auto.CommandError as error:
        raise PulumiFailed(operation, tuple(log.messages), str(error), tuple(log.ahead)) from None
    seconds = time.monotonic() - started
    return Run(planned.name, log, seconds, values(stack) if operation in ("up", "refresh") else {})


def values(stack: auto.Stack) -> Values:
    """Return a stack's outputs; empty if it has not been built."""
    return {key: output.value for key, output in stack.outputs().items()}


def opened(environment: Environment, file: Path, planned: PlannedStack) -> auto.Stack:
    """Open one of the environment's stacks; create it if it does not exist.

    Raises FindingsError if there is no Pulumi, or if the environment was built with another number of stacks: its
    resources would be created a second time.
    """
    if shutil.which("pulumi") is None:
        raise finding(
            "no-pulumi",
            "there is no `pulumi` on PATH",
            'install it (https://www.pulumi.com/docs/install/), or, for the sandbox: eval "$(python -m sandbox.pulumi_provider env)"',
        )
    drop_torn_attributes(environment.name)
    folder = write_project(environment.name, file, planned.name)
    variables = {
        **backend_variables(environment.name, environment.state),
        "PULUMI_SKIP_UPDATE_CHECK": os.environ.get("PULUMI_SKIP_UPDATE_CHECK", "true"),
        # Without this, an Output in an f-string would become a resource's property without an error.
        "PULUMI_ERROR_OUTPUT_STRING": "true",
    }
    provider = environment.state.secrets_provider if environment.state is not None else None
    options = auto.LocalWorkspaceOptions(env_vars=variables, secrets_provider=provider)
    try:
        try:
            return auto.select_stack(planned.name, work_dir=str(folder), opts=options)
        except auto.StackNotFoundError:
            _refuse_moved_state(environment, planned)
            _refuse_another_shape(environment, auto.LocalWorkspace(work_dir=str(folder), env_vars=variables))
            return auto.create_stack(planned.name, work_dir=str(folder), opts=options)
    except auto.CommandError as error:
        raise PulumiFailed("select", (), str(error)) from None


def finding(rule: str, message: str, fix: str) -> FindingsError:
    """Return an error with one finding."""
    return FindingsError([Finding(rule=rule, message=message, fix=fix)])


def _refuse_moved_state(environment: Environment, planned: PlannedStack) -> None:
    """Refuse to create a stack in a shared backend while its resources are in the operator's local state."""
    state = environment.state
    if state is None or state.is_local or not has_local_stack(environment.name, planned.name):
        return
    raise finding(
        "state-elsewhere",
        f"{planned.name} is already built, with its state on this machine: {local_backend(environment.name)}",
        f"move the state to {state.backend}: docs/how-to/share-the-state.md",
    )


def _refuse_another_shape(environment: Environment, workspace: auto.LocalWorkspace) -> None:
    other = {other_stack.name for other_stack in stacks_of_another_shape(environment)}
    # A name may have a prefix of organisation and project.
    resource_counts = {stack.name.rsplit("/", 1)[-1]: stack.resource_count for stack in workspace.list_stacks()}
    built = sorted(name for name in other if resource_counts.get(name))
    if built:
        raise finding(
            "built-otherwise",
            f"{environment.name} is already built with stacks: {'three' if environment.stacks == 'one' else 'one'}: "
            f"{', '.join(built)}",
            "restore `stacks:`, or move the resources first (docs/how-to/split-into-stacks.md)",
        )


def _ignore_line(line: str) -> None:
    """Ignore Pulumi's text output: the events contain the same information."""
