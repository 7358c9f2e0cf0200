"""Conversion of a recorded graph into the resources that policies check."""

from landbridge.policy import Resource
from sandbox.pulumi_provider.checks.launch_policies import known
from sandbox.pulumi_provider.graph import Graph


def resources(graph: Graph) -> tuple[Resource, ...]:
    """Return the graph's custom resources, each with its provider's defaults; unknown values are None."""
    providers = {key: node.inputs for key, node in graph.nodes.items() if node.type.startswith("pulumi:providers:")}
    # A reference to a provider consists of URN and id.
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
