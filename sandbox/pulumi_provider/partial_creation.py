"""Partial creations: the resource exists but its creation failed; reported to the engine as the real provider does.

Pulumi keeps such a resource with the error, and its next update finishes it.
Source: pulumi/pulumi, provider.proto, ErrorResourceInitFailed.
"""

from typing import Any

import grpc
from botocore.exceptions import ClientError
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import status_pb2

from sandbox.pulumi_provider import serialization
from sandbox.pulumi_provider.aws import AwsResource, ProviderError
from sandbox.pulumi_provider.serialization import Bag


class PartialCreation(Exception):
    """Error: the resource exists, but without some requested properties."""

    def __init__(self, id_: str, inputs: Bag, seen: Bag, reason: str) -> None:
        super().__init__(reason)
        self.id, self.inputs, self.seen, self.reason = id_, inputs, seen, reason

    def report(self, context: Any) -> None:
        """End the gRPC call with the error; its details contain the resource."""
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=self.reason)
        properties = serialization.struct(
            {**self.inputs, **{key: value for key, value in self.seen.items() if value is not None}}
        )
        detail = pb.ErrorResourceInitFailed(
            id=self.id, properties=properties, reasons=[self.reason], inputs=serialization.struct(self.inputs)
        )
        status.details.add().Pack(detail)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, self.reason)


def create(resource: AwsResource, inputs: Bag) -> tuple[str, Bag]:
    """Create a resource; raise PartialCreation if it exists and a later step failed."""
    try:
        id_, outputs = resource.create(inputs)
    except (ClientError, ProviderError) as error:
        if resource.created_id is None:
            raise
        # Without the missing parts: the next update applies the difference.
        raise PartialCreation(resource.created_id, inputs, {}, str(error)) from error
    resource.exists(id_)
    return id_, outputs


def update(resource: AwsResource, id_: str, state: Bag, inputs: Bag, changed: frozenset[str]) -> Bag:
    """Update a resource; with no changed inputs it completes a partial creation."""
    if changed:
        return resource.update(id_, state, inputs, changed)
    resource.finish(id_, inputs)
    seen = resource.read(id_, inputs) or {}
    different = frozenset(key for key, value in inputs.items() if key in seen and seen[key] != value)
    return {**seen, **inputs, **(resource.update(id_, seen, inputs, different) if different else {})}
