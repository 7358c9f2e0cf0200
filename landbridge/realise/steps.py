"""Events of Pulumi's engine as plain values, for display and tests."""

import re
from dataclasses import dataclass
from typing import Literal

from pulumi.automation import DiagnosticEvent, EngineEvent, OpType, StepEventMetadata

from landbridge.plan.resource_change import ResourceChange

Phase = Literal["started", "done", "failed"]

#: Warning about plugins on PATH, which is expected for the stand-ins of the sandbox.
_NOISE = re.compile(r"^using pulumi-\S+ from \$PATH at ")


@dataclass(frozen=True, slots=True)
class Step:
    """Operation on a resource; `change` describes it in full."""

    phase: Phase
    operation: str
    type: str
    name: str
    change: ResourceChange | None = None

    @property
    def changes(self) -> bool:
        """Return whether the resource itself is changed."""
        return self.operation not in ("same", "read", "refresh")


@dataclass(frozen=True, slots=True)
class Message:
    """Message of the engine, the program or the provider."""

    severity: str
    text: str
    resource: str


@dataclass(frozen=True, slots=True)
class Summary:
    """Number of resources by operation."""

    changes: dict[str, int]


Event = Step | Message | Summary


def translate(event: EngineEvent) -> Event | None:
    """Return an engine event as a plain value; None for one that is not used."""
    if event.resource_pre_event is not None:
        return _step("started", event.resource_pre_event.metadata)
    if event.res_outputs_event is not None:
        return _step("done", event.res_outputs_event.metadata)
    if event.res_op_failed_event is not None:
        return _step("failed", event.res_op_failed_event.metadata)
    if event.diagnostic_event is not None:
        return _message(event.diagnostic_event)
    if event.summary_event is not None:
        changes = event.summary_event.resource_changes or {}
        return Summary({_word(operation): count for operation, count in changes.items()})
    return None


def _step(phase: Phase, metadata: StepEventMetadata) -> Step:
    token, name = metadata.urn.split("::")[2:4]
    return Step(phase, _word(metadata.op), token.rsplit("$", 1)[-1], name, change_of(metadata))


def change_of(metadata: StepEventMetadata) -> ResourceChange:
    """Return a step as plain data. Providers report the difference in detail, by top-level property, or not at all."""
    old, new = metadata.old, metadata.new
    marks = (metadata.detailed_diff or {}).items()
    causes = [path for path, diff in marks if diff.diff_kind.value.endswith("-replace")]
    state = old or new
    return ResourceChange(
        urn=metadata.urn,
        operation=_word(metadata.op),
        old=(old.inputs or {}) if old else {},
        new=(new.inputs or {}) if new else {},
        paths=tuple(path for path, _ in marks) or tuple(metadata.diffs or ()),
        causes=tuple(causes) or tuple(metadata.keys or ()),
        protected=bool(state and state.protect),
        retained=bool(state and state.retain_on_delete),
        parent=str(state.parent or "") if state else "",
        provider=str(metadata.provider or ""),
    )


def _message(event: DiagnosticEvent) -> Message | None:
    text = re.sub(r"<\{%.*?%\}>", "", event.message).strip()
    if event.ephemeral or not text or _NOISE.match(text) or event.severity not in ("error", "warning"):
        return None
    resource = event.urn.rsplit("::", 1)[-1] if event.urn else ""
    return Message(event.severity, text, resource)


def _word(operation: OpType | str) -> str:
    return operation.value if isinstance(operation, OpType) else str(operation)
