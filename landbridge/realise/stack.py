"""Pulumi stack through the Automation API: open it, run an operation on it, return the result."""

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
from landbridge.realise.backend import backend_variables, drop_dead_locks, drop_torn_attributes
from landbridge.realise.project import write_project
from landbridge.realise.steps import Event, Message, Step, Summary, translate

OnEvent = Callable[[Event], None]
#: A stack's outputs as plain values, secrets among them.
Values = Mapping[str, Any]


class PulumiFailed(Exception):
    """Pulumi failed; `messages` are its own words, each with its resource.

    `ahead` is what it had said it would do until then.
    """

    def __init__(
        self, operation: str, messages: tuple[Message, ...], detail: str, ahead: tuple[ResourceChange, ...] = ()
    ) -> None:
        self.operation, self.messages, self.ahead, self.detail = operation, messages, ahead, detail
        lines = [f"{m.resource}: {m.text}" if m.resource else m.text for m in messages if m.severity == "error"]
        super().__init__("\n".join(lines) or detail)

    def after(self, ahead: tuple[ResourceChange, ...]) -> "PulumiFailed":
        """The same, where other stacks of the environment had said what they would do before."""
        return PulumiFailed(self.operation, self.messages, self.detail, (*ahead, *self.ahead))


@dataclass
class Log:
    """Forward events, and record those that the result and an error need."""

    tell: OnEvent
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
            self.tell(event)


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
        getattr(stack, operation)(on_event=log, on_output=_swallow, color="never", **options)
    except auto.ConcurrentUpdateError as error:
        folder = stack.workspace.work_dir
        fix = f"wait for it; if it is gone: pulumi -C {folder} cancel -s {planned.name}"
        raise finding("stack-locked", "another update of this stack is running", fix) from error
    except auto.CommandError as error:
        raise PulumiFailed(operation, tuple(log.messages), str(error), tuple(log.ahead)) from None
    seconds = time.monotonic() - started
    return Run(planned.name, log, seconds, values(stack) if operation in ("up", "refresh") else {})


def values(stack: auto.Stack) -> Values:
    """Return a stack's outputs; empty where it has built nothing."""
    return {key: output.value for key, output in stack.outputs().items()}


def opened(environment: Environment, file: Path, planned: PlannedStack) -> auto.Stack:
    """Open one of the environment's stacks; create it where none has that name.

    Raises FindingsError where there is no Pulumi, and where the environment was built with another number of stacks: what is
    in AWS would be made a second time.
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
        **backend_variables(environment.name),
        "PULUMI_SKIP_UPDATE_CHECK": os.environ.get("PULUMI_SKIP_UPDATE_CHECK", "true"),
        # An Output in an f-string would otherwise become a resource's property, silently.
        "PULUMI_ERROR_OUTPUT_STRING": "true",
    }
    options = auto.LocalWorkspaceOptions(env_vars=variables)
    try:
        try:
            return auto.select_stack(planned.name, work_dir=str(folder), opts=options)
        except auto.StackNotFoundError:
            _refuse_another_shape(environment, auto.LocalWorkspace(work_dir=str(folder), env_vars=variables))
            return auto.create_stack(planned.name, work_dir=str(folder), opts=options)
    except auto.CommandError as error:
        raise PulumiFailed("select", (), str(error)) from None


def finding(rule: str, message: str, fix: str) -> FindingsError:
    """Return an error with one finding."""
    return FindingsError([Finding(rule=rule, message=message, fix=fix)])


def _refuse_another_shape(environment: Environment, workspace: auto.LocalWorkspace) -> None:
    other = {other_stack.name for other_stack in stacks_of_another_shape(environment)}
    # A name may come with the organisation and the project that it is in.
    resource_counts = {stack.name.rsplit("/", 1)[-1]: stack.resource_count for stack in workspace.list_stacks()}
    built = sorted(name for name in other if resource_counts.get(name))
    if built:
        raise finding(
            "built-otherwise",
            f"{environment.name} is built already, with stacks: {'three' if environment.stacks == 'one' else 'one'}: "
            f"{', '.join(built)}",
            "put `stacks:` back, or move what is there first (docs/how-to/split-into-stacks.md)",
        )


def _swallow(line: str) -> None:
    """Ignore Pulumi's own text: the events say the same."""
