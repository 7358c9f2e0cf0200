"""A recorded graph as policies see it."""

from typing import Any

from landbridge.policy import Resource
from sandbox.engine.graph import Graph
from sandbox.engine.wire import unknown_inside


def resources(graph: Graph) -> tuple[Resource, ...]:
    """The graph's own resources, each with its provider's defaults; what is not known yet is None."""
    providers = {key: node.inputs for key, node in graph.nodes.items() if node.type.startswith("pulumi:providers:")}
    # A reference to a provider is its URN and its id.
    return tuple(
        Resource(
            type=node.type,
            name=node.name,
            props=_known(node.inputs),
            urn=key,
            id=f"{node.name}-id",
            protect=node.protect,
            retained=node.retain,
            defaults=_known(providers.get(node.provider.rpartition("::")[0], {})),
        )
        for key, node in graph.nodes.items()
        if node.custom and key not in providers
    )


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return None if unknown_inside(value) else value
