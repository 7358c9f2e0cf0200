"""Pulumi through its Automation API: build, look at, compare and remove the AWS half of an environment.

Whatever `pulumi` is first on PATH does it, with whatever plugins are there: this module knows of no sandbox.
"""

import json
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
from landbridge.paths import outputs_file, secrets_dir
from landbridge.plan.change import Change
from landbridge.plan.outputs import StackOutputs
from landbridge.realise.backend import backend_variables, drop_dead_locks
from landbridge.realise.project import write_project
from landbridge.realise.steps import Event, Message, Step, Summary, translate

OnEvent = Callable[[Event], None]
#: The file of the link's keys: a JSON list in the tunnels' order, in the environment's secrets folder.
LINK_KEYS = "link_pre_shared_keys"


class PulumiFailed(Exception):
    """Pulumi did not do what it was asked; `messages` are its own words, each with its resource.

    `ahead` is what it had said it would do until then.
    """

    def __init__(
        self, operation: str, messages: tuple[Message, ...], detail: str, ahead: tuple[Change, ...] = ()
    ) -> None:
        self.operation, self.messages, self.ahead = operation, messages, ahead
        lines = [f"{m.resource}: {m.text}" if m.resource else m.text for m in messages if m.severity == "error"]
        super().__init__("\n".join(lines) or detail)


@dataclass(frozen=True)
class Result:
    """What an operation did. `ahead` is every step as it began: of a preview, what would be done."""

    operation: str
    environment: str
    changes: Mapping[str, int]
    seconds: float
    steps: tuple[Step, ...]
    outputs: StackOutputs | None = None
    ahead: tuple[Change, ...] = ()

    @property
    def changed(self) -> int:
        """How many resources were touched (or would be)."""
        return sum(count for operation, count in self.changes.items() if operation not in ("same", "read"))


@dataclass
class _Log:
    """Passes events on, and keeps what the result and an error need."""

    tell: OnEvent
    steps: list[Step] = field(default_factory=list)
    ahead: list[Change] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)

    def __call__(self, raw: auto.EngineEvent) -> None:
        event = translate(raw)
        match event:
            case Step(phase="done" | "failed"):
                self.steps.append(event)
            case Step(phase="started", change=Change() as change):
                self.ahead.append(change)
            case Message():
                self.messages.append(event)
            case Summary(changes=changes):
                self.changes = changes
        if event is not None:
            self.tell(event)


def _ignore(event: Event) -> None:
    """Show nothing."""


def up(environment: Environment, file: Path, on_event: OnEvent = _ignore, *, refresh: bool = False) -> Result:
    """Build what the environment says, and write its outputs for Ansible and the burst controller.

    With `refresh` what Pulumi remembers is compared with AWS first: what has disappeared is built again.
    """
    result = _run("up", environment, file, on_event, refresh=refresh)
    if result.outputs is not None:
        write_outputs(environment.name, result.outputs)
    return result


def preview(environment: Environment, file: Path, on_event: OnEvent = _ignore) -> Result:
    """Say what `up` would do; touches nothing."""
    return _run("preview", environment, file, on_event)


def refresh(environment: Environment, file: Path, on_event: OnEvent = _ignore) -> Result:
    """Compare Pulumi's memory with AWS, and correct the memory."""
    return _run("refresh", environment, file, on_event)


def destroy(environment: Environment, file: Path, on_event: OnEvent = _ignore) -> Result:
    """Remove everything, and the outputs with it; what the environment protects (data, keys, secrets) stays as it is."""
    options = {"exclude_protected": True} if environment.aws.protect else {}
    result = _run("destroy", environment, file, on_event, **options)
    for path in (outputs_file(environment.name), secrets_dir(environment.name) / LINK_KEYS):
        path.unlink(missing_ok=True)
    return result


def remembered(environment: Environment, file: Path) -> frozenset[str]:
    """The ids, names and ARNs of what Pulumi remembers in AWS; empty where nothing has been built."""
    deployment = _stack(environment, file).export_stack().deployment or {}
    found = set[str]()
    for resource in deployment.get("resources") or ():
        if str(resource.get("type", "")).startswith("aws:"):
            outputs = resource.get("outputs") or {}
            words = (resource.get("id"), *(outputs.get(key) for key in ("arn", "name", "allocationId")))
            found |= {word for word in words if isinstance(word, str) and word}
    return frozenset(found)


def outputs(environment: Environment, file: Path) -> StackOutputs | None:
    """Return the stack's outputs, secrets among them; None where nothing has been built."""
    found = _stack(environment, file).outputs()
    return _outputs_of_values(found) if found else None


def write_outputs(environment: str, found: StackOutputs) -> None:
    """Write the outputs where Ansible's inventory looks for them: the link's keys apart, for their owner alone."""
    _write(outputs_file(environment), found.public(), 0o644)
    if found.link_pre_shared_keys is not None:
        _write(secrets_dir(environment) / LINK_KEYS, list(found.link_pre_shared_keys), 0o600)


def _run(operation: str, environment: Environment, file: Path, on_event: OnEvent, **options: Any) -> Result:
    stack, log, started = _stack(environment, file), _Log(on_event), time.monotonic()
    drop_dead_locks(environment.name)
    try:
        getattr(stack, operation)(on_event=log, on_output=_swallow, color="never", **options)
    except auto.ConcurrentUpdateError as error:
        folder = stack.workspace.work_dir
        fix = f"wait for it; if it is gone: pulumi -C {folder} cancel -s {environment.name}"
        raise _finding("stack-locked", "another update of this stack is running", fix) from error
    except auto.CommandError as error:
        raise PulumiFailed(operation, tuple(log.messages), str(error), tuple(log.ahead)) from None
    seconds, steps = time.monotonic() - started, tuple(log.steps)
    found = stack.outputs() if operation in ("up", "refresh") else {}
    built = _outputs_of_values(found) if found else None
    return Result(operation, environment.name, log.changes, seconds, steps, built, tuple(log.ahead))


def _swallow(line: str) -> None:
    """The events say the same; Pulumi's own text is not shown."""


def _stack(environment: Environment, file: Path) -> auto.Stack:
    if shutil.which("pulumi") is None:
        raise _finding(
            "no-pulumi",
            "there is no `pulumi` on PATH",
            'install it (https://www.pulumi.com/docs/install/), or, for the sandbox: eval "$(python -m sandbox.engine env)"',
        )
    folder = write_project(environment.name, file)
    variables = {
        **backend_variables(environment.name),
        "PULUMI_SKIP_UPDATE_CHECK": os.environ.get("PULUMI_SKIP_UPDATE_CHECK", "true"),
        # An Output in an f-string would otherwise become a resource's property, silently.
        "PULUMI_ERROR_OUTPUT_STRING": "true",
    }
    options = auto.LocalWorkspaceOptions(env_vars=variables)
    try:
        return auto.create_or_select_stack(environment.name, work_dir=str(folder), opts=options)
    except auto.CommandError as error:
        raise PulumiFailed("select", (), str(error)) from None


def _outputs_of_values(found: Mapping[str, auto.OutputValue]) -> StackOutputs:
    return StackOutputs.model_validate({key: output.value for key, output in found.items()})


def _write(path: Path, data: Any, mode: int) -> None:
    """Write in one rename, never readable by more than `mode` says."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w") as out:
        json.dump(data, out, indent=2)
        out.write("\n")
    scratch.replace(path)


def _finding(rule: str, message: str, fix: str) -> FindingsError:
    return FindingsError([Finding(rule=rule, message=message, fix=fix)])
