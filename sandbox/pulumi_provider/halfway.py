"""Creations that fail halfway: the thing is there, and the engine is told so, as the real provider does it.

Pulumi keeps such a resource with what went wrong, and its next update finishes it.
Source: pulumi/pulumi, provider.proto, ErrorResourceInitFailed.
"""

from typing import Any

import grpc
from botocore.exceptions import ClientError
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import status_pb2

from sandbox.pulumi_provider import wire
from sandbox.pulumi_provider.aws import Kind, Refused
from sandbox.pulumi_provider.wire import Bag


class HalfMade(Exception):
    """Something exists and is not as it was asked for."""

    def __init__(self, id_: str, inputs: Bag, seen: Bag, reason: str) -> None:
        super().__init__(reason)
        self.id, self.inputs, self.seen, self.reason = id_, inputs, seen, reason

    def tell(self, context: Any) -> None:
        """End the call with the error that has the resource in it."""
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=self.reason)
        properties = wire.struct(
            {**self.inputs, **{key: value for key, value in self.seen.items() if value is not None}}
        )
        detail = pb.ErrorResourceInitFailed(
            id=self.id, properties=properties, reasons=[self.reason], inputs=wire.struct(self.inputs)
        )
        status.details.add().Pack(detail)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, self.reason)


def create(kind: Kind, inputs: Bag) -> tuple[str, Bag]:
    """Make one; raises HalfMade where it exists and something after that went wrong."""
    try:
        id_, outputs = kind.create(inputs)
    except (ClientError, Refused) as error:
        if kind.there is None:
            raise
        # Without what was not done: the difference is what the next update has to do.
        raise HalfMade(kind.there, inputs, {}, str(error)) from error
    kind.exists(id_)
    return id_, outputs


def update(kind: Kind, id_: str, state: Bag, inputs: Bag, changed: frozenset[str]) -> Bag:
    """Change one; where nothing is to be changed, it was left half made, and is looked at."""
    if changed:
        return kind.update(id_, state, inputs, changed)
    kind.finish(id_, inputs)
    seen = kind.read(id_, inputs) or {}
    undone = frozenset(key for key, value in inputs.items() if key in seen and seen[key] != value)
    return {**seen, **inputs, **(kind.update(id_, seen, inputs, undone) if undone else {})}
