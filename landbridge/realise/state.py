"""Pulumi's state from `pulumi stack export`: its pending creates, and their conversion into resources.

The engine writes a pending operation before it calls a provider, and the result afterwards. An engine that is killed
between the two leaves a *pending create*: the resource may exist in AWS, but the state has no id for it. Source:
Pulumi's documentation of `pulumi refresh` (pending creates) and of `pulumi stack import`, which drops them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from landbridge.plan.resource_change import ResourceChange

#: Outputs that the state must not contain in clear text; for a new resource only the program specifies them.
#: Source: pulumi-aws 7.51, additional_secret_outputs of each class.
SECRET_OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "aws:ec2/vpnConnection:VpnConnection": (
        "customerGatewayConfiguration", "tunnel1PresharedKey", "tunnel2PresharedKey"),
    "aws:rds/instance:Instance": ("password", "passwordWo"),
}  # fmt: skip

Deployment = dict[str, Any]
Record = dict[str, Any]


def pending_creates(deployment: Mapping[str, Any]) -> tuple[Record, ...]:
    """Return the records of pending creates, without ids."""
    operations = deployment.get("pending_operations") or ()
    return tuple(
        operation["resource"]
        for operation in operations
        if operation.get("type") == "creating" and operation.get("resource")
    )


def written_at(deployment: Mapping[str, Any]) -> datetime | None:
    """Return the time when the state was last written."""
    text = str((deployment.get("manifest") or {}).get("time", ""))
    try:
        # Go writes nanoseconds; Python's parser accepts at most six digits.
        seconds, dot, fraction = text.partition(".")
        digits = fraction[: len(fraction) - len(fraction.lstrip("0123456789"))]
        return datetime.fromisoformat(f"{seconds}{dot}{digits[:6]}{fraction[len(digits) :]}")
    except ValueError:
        return None


def change_of_record(record: Mapping[str, Any]) -> ResourceChange:
    """Return the change of a pending create."""
    return ResourceChange(urn=str(record["urn"]), operation="create", new=dict(record.get("inputs") or {}))


def record_of_change(change: ResourceChange, deployment: Mapping[str, Any]) -> Record:
    """Return the record of a resource that a preview would create, with provider and parent from the state.

    Its dependencies are omitted: the next update writes them.
    """
    resources_by_urn = {str(resource["urn"]): resource for resource in deployment.get("resources") or ()}
    providers = [provider for provider in resources_by_urn.values() if str(provider["type"]) == "pulumi:providers:aws"]
    record: Record = {"urn": change.urn, "custom": True, "type": change.type, "inputs": dict(change.new)}
    if change.type in SECRET_OUTPUTS:
        record["additionalSecretOutputs"] = list(SECRET_OUTPUTS[change.type])
    if change.parent in resources_by_urn:
        record["parent"] = change.parent
    if change.provider:
        record["provider"] = change.provider
    elif len(providers) == 1:
        record["provider"] = f"{providers[0]['urn']}::{providers[0]['id']}"
    return record


def remembered(deployment: Mapping[str, Any]) -> frozenset[str]:
    """Return the ids, names and ARNs of the resources in the state."""
    names = set[str]()
    for resource in deployment.get("resources") or ():
        if str(resource.get("type", "")).startswith("aws:"):
            outputs = resource.get("outputs") or {}
            words = (resource.get("id"), *(outputs.get(key) for key in ("arn", "name", "allocationId")))
            names |= {word for word in words if isinstance(word, str) and word}
    return frozenset(names)


def dependents(deployment: Mapping[str, Any], below: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of resources in `deployment` that have an id or an ARN of the state `below` among their inputs."""
    words = {str(resource["id"]) for resource in _in_aws(below) if resource.get("id")}
    words |= {
        str(resource["outputs"]["arn"]) for resource in _in_aws(below) if (resource.get("outputs") or {}).get("arn")
    }
    return frozenset(
        str(resource["urn"]).rsplit("::", 1)[-1]
        for resource in _in_aws(deployment)
        if _contains(resource.get("inputs"), words)
    )


def _in_aws(deployment: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (
        resource for resource in deployment.get("resources") or () if str(resource.get("type", "")).startswith("aws:")
    )


def _contains(value: Any, words: Collection[str]) -> bool:
    """Return whether a value or a part of it, except tags, is one of the words."""
    if isinstance(value, Mapping):
        return any(_contains(item, words) for key, item in value.items() if key not in ("tags", "tagsAll"))
    if isinstance(value, list):
        return any(_contains(item, words) for item in value)
    return isinstance(value, str) and value in words


def known_ids(deployment: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the ids in the state by type; each belongs to this environment."""
    ids_by_type: dict[str, set[str]] = {}
    for resource in deployment.get("resources") or ():
        if resource.get("id"):
            ids_by_type.setdefault(str(resource["type"]), set()).add(str(resource["id"]))
    return {token: frozenset(ids) for token, ids in ids_by_type.items()}


def taken_in(deployment: Mapping[str, Any], records: Iterable[Record], ids: Mapping[str, str]) -> Deployment:
    """Return the state without pending operations, and with those `records` as resources that have an id (by URN).

    A replacement takes the position of the old resource, which is marked for deletion, or removed if it has been
    deleted already. Outputs are the inputs until a refresh reads the actual ones.
    """
    resources = [dict(resource) for resource in deployment.get("resources") or ()]
    for record in records:
        urn = str(record["urn"])
        if urn not in ids:
            continue
        resource = {**record, "id": ids[urn], "outputs": dict(record.get("inputs") or {})}
        index = next(
            (
                number
                for number, existing in enumerate(resources)
                if existing["urn"] == urn and not existing.get("delete")
            ),
            None,
        )
        if index is None:
            resources.append(resource)
        elif resources[index].pop("pendingReplacement", False):
            resources[index] = resource
        else:
            resources[index]["delete"] = True
            resources.insert(index, resource)
    others = {key: value for key, value in deployment.items() if key not in ("resources", "pending_operations")}
    return {**others, "resources": resources}
