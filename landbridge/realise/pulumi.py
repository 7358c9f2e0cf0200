"""Pulumi operations through its Automation API: up, preview, refresh and destroy of an environment's AWS resources.

An environment is one stack or three; every operation runs on them from the bottom up, `destroy` from the top down, or
only on one layer. The first `pulumi` on PATH is used with its plugins: this module does not depend on the sandbox.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pulumi import automation as auto

from landbridge.environment import Environment
from landbridge.environment.stacks import Layer
from landbridge.paths import outputs_file, secrets_dir
from landbridge.plan.network.link import OWN
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.resource_change import ResourceChange
from landbridge.plan.site.link.gateway import keys_file
from landbridge.plan.stacks import HANDOVER, PlannedStack, planned_stacks
from landbridge.realise.backend import drop_dead_locks
from landbridge.realise.settle import SETTLED_SECONDS, Find, Settled
from landbridge.realise.settle import settle as settle_stack
from landbridge.realise.stack import OnEvent, PulumiFailed, Run, Values, finding, opened, run, values
from landbridge.realise.state import Deployment, dependents, known_ids
from landbridge.realise.state import remembered as remembered_in
from landbridge.realise.steps import Event, Message, Step

__all__ = [
    "OnEvent",
    "OperationResult",
    "PulumiFailed",
    "destroy",
    "outputs",
    "preview",
    "refresh",
    "remembered",
    "settle",
    "up",
]
#: The file of the link's keys: a JSON list in the tunnels' order, in the environment's secrets folder.
LINK_KEYS = keys_file(OWN)


@dataclass(frozen=True)
class OperationResult:
    """Result of an operation. `ahead`: the change of every started step; in a preview, of every planned step."""

    operation: str
    environment: str
    changes: Mapping[str, int]
    seconds: float
    steps: tuple[Step, ...]
    outputs: StackOutputs | None = None
    ahead: tuple[ResourceChange, ...] = ()

    @property
    def changed(self) -> int:
        """Return the number of resources that were changed (in a preview: would be)."""
        return sum(count for operation, count in self.changes.items() if operation not in ("same", "read"))


def _ignore(event: Event) -> None:
    """Ignore an event."""


def up(
    environment: Environment,
    file: Path,
    on_event: OnEvent = _ignore,
    *,
    refresh: bool = False,
    layer: Layer | None = None,
) -> OperationResult:
    """Build the environment, and write its outputs for Ansible and the burst controller.

    With `refresh` Pulumi's state is compared with AWS first: resources that do not exist any more are created again.
    """
    runs = _run_stacks("up", environment, file, on_event, layer, refresh=refresh)
    built = _outputs(environment, file, runs)
    if built is not None:
        write_outputs(environment.name, built)
    return _operation_result("up", environment, runs, built)


def preview(
    environment: Environment, file: Path, on_event: OnEvent = _ignore, *, layer: Layer | None = None
) -> OperationResult:
    """Return the steps of `up` without executing them. Outputs of other stacks and AWS values that do not exist yet are
    unknown.
    """
    return _operation_result("preview", environment, _run_stacks("preview", environment, file, on_event, layer), None)


def refresh(
    environment: Environment, file: Path, on_event: OnEvent = _ignore, *, layer: Layer | None = None
) -> OperationResult:
    """Compare Pulumi's state with AWS, and correct the state."""
    runs = _run_stacks("refresh", environment, file, on_event, layer)
    return _operation_result("refresh", environment, runs, _outputs(environment, file, runs))


def destroy(
    environment: Environment, file: Path, on_event: OnEvent = _ignore, *, layer: Layer | None = None
) -> OperationResult:
    """Remove all resources and the outputs, except protected resources (data, keys, secrets).

    A stack on which a protected resource of a stack above depends stays too; a warning contains the resource.
    """
    options = {"exclude_protected": True} if environment.aws.protect else {}
    runs, above = list[Run](), list[Deployment]()
    for planned in reversed(planned_stacks(environment)):
        is_chosen = layer is None or layer in planned.layers
        if is_chosen and above:
            deployment = _deployment(environment, file, planned)
            if names := sorted(name for upper in above for name in dependents(upper, deployment)):
                if layer is not None:
                    fix = "destroy the layers above it first"
                    raise finding("in-use", f"{planned.name}: {', '.join(names)} in another stack depend on it", fix)
                on_event(Message("warning", f"{planned.name} stays: {', '.join(names)} depend on it", ""))
                break
        if is_chosen:
            runs.append(run("destroy", environment, file, planned, on_event, **options))
        if planned.is_partial:
            above.append(_deployment(environment, file, planned))
    result = _operation_result("destroy", environment, runs, None)
    for path in (outputs_file(environment.name), *secrets_dir(environment.name).glob("link_*")):
        path.unlink(missing_ok=True)
    return result


def remembered(environment: Environment, file: Path) -> frozenset[str]:
    """Return the ids, names and ARNs in Pulumi's state; empty if nothing has been built."""
    stacks = planned_stacks(environment)
    return frozenset(word for stack in stacks for word in remembered_in(_deployment(environment, file, stack)))


def settle(
    environment: Environment,
    file: Path,
    find: Find,
    on_event: OnEvent = _ignore,
    *,
    wait: float = SETTLED_SECONDS,
    layer: Layer | None = None,
) -> Settled:
    """Add resources to Pulumi's state that an earlier operation created in AWS without recording them; nothing is
    created or removed in AWS.

    `find` searches AWS, for at most `wait` seconds after the earlier operation. It is not called if the earlier
    operation was complete.
    """
    results = [_settle(environment, file, find, on_event, wait, planned) for planned in _chosen(environment, layer)]
    return Settled(
        {urn: id_ for result in results for urn, id_ in result.taken_in.items()},
        tuple(urn for result in results for urn in result.absent),
    )


def _settle(
    environment: Environment, file: Path, find: Find, on_event: OnEvent, wait: float, planned: PlannedStack
) -> Settled:
    stack = opened(environment, file, planned)
    drop_dead_locks(environment.name)

    def ahead() -> tuple[ResourceChange, ...]:
        try:
            return tuple(run("preview", environment, file, planned, on_event).log.ahead)
        except PulumiFailed as error:
            return error.ahead

    try:
        others = partial(_known_elsewhere, environment, file, planned)
        return settle_stack(stack, find, ahead, wait, others, lambda text: on_event(Message("warning", text, "")))
    except auto.CommandError as error:
        raise PulumiFailed("settle", (), str(error)) from None


def _known_elsewhere(environment: Environment, file: Path, planned: PlannedStack) -> dict[str, frozenset[str]]:
    """Return the ids, by type, in the state of the environment's other stacks."""
    others = [
        _deployment(environment, file, planned_stack)
        for planned_stack in planned_stacks(environment)
        if planned_stack != planned
    ]
    tokens = [known_ids(other) for other in others]
    return {key: frozenset().union(*(token.get(key, ()) for token in tokens)) for token in tokens for key in token}


def outputs(environment: Environment, file: Path) -> StackOutputs | None:
    """Return the environment's outputs, including secrets; None until all its stacks have been built."""
    return _outputs(environment, file, ())


def write_outputs(environment: str, stack_outputs: StackOutputs) -> None:
    """Write the outputs to the file that Ansible's inventory reads; the tunnels' keys to separate files that only their
    owner can read.
    """
    _write(outputs_file(environment), stack_outputs.public(), 0o644)
    if stack_outputs.link_pre_shared_keys is not None:
        _write(secrets_dir(environment) / LINK_KEYS, list(stack_outputs.link_pre_shared_keys), 0o600)
    for site, keys in (stack_outputs.link_site_keys or {}).items():
        _write(secrets_dir(environment) / keys_file(site), list(keys), 0o600)
    if stack_outputs.link_bgp_auth_key is not None:
        _write(secrets_dir(environment) / "link_bgp_auth_key", stack_outputs.link_bgp_auth_key, 0o600)


def _chosen(environment: Environment, layer: Layer | None) -> tuple[PlannedStack, ...]:
    """Return the stacks of an operation, from the bottom up."""
    stacks = planned_stacks(environment)
    if layer is None:
        return stacks
    if len(stacks) == 1:
        fix = "omit --layer, or set `stacks: three` before the first up"
        raise finding("one-stack", f"{environment.name} is one stack: its layers cannot be built separately", fix)
    return tuple(stack for stack in stacks if layer in stack.layers)


def _run_stacks(
    operation: str, environment: Environment, file: Path, on_event: OnEvent, layer: Layer | None, **options: Any
) -> list[Run]:
    chosen, runs = _chosen(environment, layer), list[Run]()
    if layer is not None and operation in ("up", "preview"):
        _require_stack_below(environment, file, chosen[0])
    for planned in chosen:
        try:
            runs.append(run(operation, environment, file, planned, on_event, **options))
        except PulumiFailed as error:
            raise error.after(tuple(change for stack_run in runs for change in stack_run.log.ahead)) from None
    return runs


def _require_stack_below(environment: Environment, file: Path, planned: PlannedStack) -> None:
    below = planned_stacks(environment)[:1]
    if planned in below or HANDOVER in values(opened(environment, file, below[0])):
        return
    first = below[0].layers[0]
    raise finding(
        "stack-missing",
        f"{planned.name} depends on {below[0].name}, which has not been built yet",
        f"landbridge up -s {environment.name} --layer {first}, or without --layer all of them in order",
    )


def _deployment(environment: Environment, file: Path, planned: PlannedStack) -> Deployment:
    return dict(opened(environment, file, planned).export_stack().deployment or {})


def _outputs(environment: Environment, file: Path, runs: Sequence[Run]) -> StackOutputs | None:
    """Return the outputs of all stacks: from the runs, and of the other stacks from Pulumi's state."""
    outputs_by_stack, merged = {stack_run.stack: stack_run.values for stack_run in runs}, dict[str, Any]()
    for planned in planned_stacks(environment):
        stack_values: Values = outputs_by_stack.get(planned.name) or values(opened(environment, file, planned))
        if not stack_values:
            return None
        merged |= stack_values
    merged.pop(HANDOVER, None)
    return StackOutputs.model_validate(merged)


def _operation_result(
    operation: str, environment: Environment, runs: Sequence[Run], built: StackOutputs | None
) -> OperationResult:
    changes = Counter[str]()
    for run_ in runs:
        changes.update(run_.log.changes)
    return OperationResult(
        operation,
        environment.name,
        dict(changes),
        sum(run_.seconds for run_ in runs),
        tuple(step for run_ in runs for step in run_.log.steps),
        built,
        tuple(change for run_ in runs for change in run_.log.ahead),
    )


def _write(path: Path, data: Any, mode: int) -> None:
    """Write a file atomically, with the permissions `mode` from its creation."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w") as out:
        json.dump(data, out, indent=2)
        out.write("\n")
    temporary.replace(path)
