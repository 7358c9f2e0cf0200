"""Recorded graph in the form that policies read."""

from landbridge.policy import Resource
from sandbox.pulumi_provider.checks.launch_policies import known
from sandbox.pulumi_provider.graph import Graph


def resources(graph: Graph) -> tuple[Resource, ...]:
    """The graph's own resources, each with its provider's defaults; values not known yet are None."""
    providers = {key: node.inputs for key, node in graph.nodes.items() if node.type.startswith("pulumi:providers:")}
    # A reference to a provider is its URN and its id.
    return tuple(
        Resource(
            type=node.type,
            name=node.name,
            props=known(node.inputs),
            urn=key,
            id=f"{node.name}-id",
            protect=node.protect,
            retained=node.retain,
            defaults=known(providers.get(node.provider.rpartition("::")[0], {})),
        )
        for key, node in graph.nodes.items()
        if node.custom and key not in providers
    )
