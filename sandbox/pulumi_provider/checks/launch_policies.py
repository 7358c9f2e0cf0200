"""Check of launch templates for contents that EC2 refuses only at a launch, by Landbridge's policies."""

from collections.abc import Iterator
from typing import Any

from landbridge.policy import POLICIES, PolicySettings, Resource
from sandbox.pulumi_provider.serialization import Bag, unknown_inside

REFUSED = ("efa-interfaces", "no-group-with-block", "no-public-address")


def refused_problems(token: str, inputs: Bag) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield EC2's refusals of a resource's inputs, as problems of the whole resource."""
    for name in REFUSED:
        policy = POLICIES[name]
        if policy.check_resource is not None and token in policy.types:
            for message in policy.check_resource(Resource(token, "", known(inputs)), PolicySettings()):
                yield (), f"{message} [{name}]"


def known(value: Any) -> Any:
    """Return a value with None for unknown parts, as policies read it."""
    if isinstance(value, dict):
        return {key: known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [known(item) for item in value]
    return None if unknown_inside(value) else value
