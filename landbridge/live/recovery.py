"""Recovery of resources that a killed operation began to create: search by tag, by name or by parent resource."""

from collections.abc import Callable, Mapping, Sequence

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.aws_resources import BY_TOKEN
from landbridge.aws_resources.resource_type import Inputs, Recover
from landbridge.plan.resource_change import ResourceChange

_NO_ANSWER = (RefusalKind.CREDENTIALS, RefusalKind.NETWORK, RefusalKind.BUSY)


def recover(
    connect: Callable[[str | None], AwsClient],
    begun: Sequence[ResourceChange],
    ids_in_state: Mapping[str, frozenset[str]],
) -> dict[str, str]:
    """Return the ids, by URN, of resources of `begun` that exist in AWS and whose id is not in the state of their type.

    `connect` returns a client without cached answers, of a region or (None) of the environment's own. Resources that
    are equal in all inputs are interchangeable: each is returned once. Raises AwsRefusal if AWS cannot be queried;
    resources that these credentials may not list are not found.
    """
    recovered: dict[str, str] = {}
    used: dict[str, set[str]] = {}
    connections: dict[str | None, AwsClient] = {}
    for change in begun:
        entry = BY_TOKEN.get(change.type)
        if entry is None or entry.recover is None:
            continue
        region = change.new.get("region")
        if region not in connections:
            connections[region] = connect(region)
        used_ids = used.setdefault(change.type, set(ids_in_state.get(change.type, ())))
        existing = _existing_ids(entry.recover, connections[region], change.new)
        resource_id = next((each for each in existing if each not in used_ids), None)
        if resource_id is not None:
            used_ids.add(resource_id)
            if entry.finish is not None:
                entry.finish(connections[region], resource_id)
            recovered[change.urn] = resource_id
    return recovered


def _existing_ids(search: Recover, aws: AwsClient, inputs: Inputs) -> list[str]:
    try:
        return sorted(search(aws, inputs))
    except AwsRefusal as refused:
        if refused.kind in _NO_ANSWER:
            raise
        return []  # the resource does not exist, or these credentials may not list it
    except KeyError:
        return []  # an input that identifies it was not known yet, so that the creation cannot have been requested
