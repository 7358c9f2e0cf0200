"""Search of resources by tag, by name or by inputs that identify them: shared by the services' modules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge import tags
from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Delete, Inputs, Item, Recover, Search

#: States, in lower case, of resources that EC2 lists after their deletion.
ENDED_STATES = frozenset({"deleting", "deleted", "failed"})


def value_at(item: Any, path: str) -> Any:
    """Return the value at `A.B.C` of an item, the first element of a list; None if there is none."""
    for word in path.split("."):
        if isinstance(item, Sequence) and not isinstance(item, str):
            item = item[0] if item else None
        item = item.get(word) if isinstance(item, Mapping) else None
    return item


def tags_of(item: Item, key: str = "Tags") -> dict[str, str]:
    """Return an item's tags, which AWS writes as pairs or as an object."""
    pairs = item.get(key) or item.get(key.lower()) or ()
    if isinstance(pairs, Mapping):
        return {str(name): str(value) for name, value in pairs.items()}
    return {
        str(_first_of(pair, "Key", "TagKey", "key")): str(_first_of(pair, "Value", "TagValue", "value"))
        for pair in pairs
    }


def _first_of(pair: Item, *keys: str) -> Any:
    return next((pair[key] for key in keys if key in pair), None)


def cluster_tag(cluster: str) -> dict[str, str]:
    """Return the tag that every resource of a cluster has."""
    return {"Key": tags.CLUSTER, "Value": cluster}


def bears_tags(inputs: Inputs, existing: Mapping[str, str]) -> bool:
    """Return true if a resource has every tag of the inputs, the cluster's among them."""
    requested = inputs.get("tags") or {}
    return tags.CLUSTER in requested and all(existing.get(key) == value for key, value in requested.items())


def agrees(inputs: Inputs, item: Item, pairs: Mapping[str, str]) -> bool:
    """Return true if an item has the inputs' values. `pairs`: input to path in the item; missing inputs are not
    compared.
    """
    return all(_text(inputs[key]) == _text(value_at(item, path)) for key, path in pairs.items() if key in inputs)


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def ids_of_tagged(
    items: Iterable[Item], inputs: Inputs, pairs: Mapping[str, str], id_key: str, tags_key: str = "Tags"
) -> list[str]:
    """Return the ids of items with the inputs' tags and values."""
    return [
        str(item[id_key])
        for item in items
        if bears_tags(inputs, tags_of(item, tags_key)) and agrees(inputs, item, pairs)
    ]


@dataclass(frozen=True, slots=True)
class Ec2Listing:
    """EC2 operation that lists a type. `filters` is the name of its parameter; `by_tag` is false if it has no filter by
    tag.

    Source: the EC2 API reference's filters of each operation (botocore's service model, 2026-11).
    """

    operation: str
    key: str
    id_key: str
    pages: bool = True
    filters: str = "Filters"
    by_tag: bool = True

    def of_cluster(self, aws: AwsClient, cluster: str) -> Iterable[Item]:
        """Return the items with the cluster's tag."""
        parameters: dict[str, Any] = {}
        if self.by_tag:
            parameters[self.filters] = [{"Name": f"tag:{tags.CLUSTER}", "Values": [cluster]}]
        items: Iterable[Item] = (
            aws.all("ec2", self.operation, self.key, **parameters)
            if self.pages
            else aws.ask("ec2", self.operation, **parameters)[self.key]
        )
        return items if self.by_tag else [item for item in items if cluster_tag(cluster) in (item.get("Tags") or ())]

    def recover(self, pairs: Mapping[str, str] | None = None) -> Recover:
        """Return a search for the ids of resources with the inputs' tags and values."""

        def find(aws: AwsClient, inputs: Inputs) -> list[str]:
            items = self.of_cluster(aws, inputs["tags"][tags.CLUSTER])
            existing = [item for item in items if state_of(item) not in ENDED_STATES]
            return ids_of_tagged(existing, inputs, pairs or {}, self.id_key)

        return find

    def in_states(self, *states: str) -> Search:
        """Return a search for items of a cluster; only those in `states` (lower case), if any are given."""

        def find(aws: AwsClient, cluster: str) -> Iterable[Item]:
            return [item for item in self.of_cluster(aws, cluster) if not states or state_of(item) in states]

        return find


def state_of(item: Item) -> str:
    """Return an item's state in lower case; empty without one."""
    return str(item.get("State", item.get("Status", ""))).lower()


def delete_by(service: str, operation: str, parameter: str, key: str, many: bool = False) -> Delete:
    """Return a deletion by one call, with the item's value under `key` as `parameter`; as a list with `many`."""

    def delete(aws: AwsClient, item: Item) -> None:
        arguments: dict[str, Any] = {parameter: [item[key]] if many else item[key]}
        aws.ask(service, operation, **arguments)

    return delete


def listed(
    service: str,
    operation: str,
    key: str,
    id_path: str,
    pairs: Mapping[str, str],
    *,
    parameters_from: Mapping[str, str] | None = None,
    constants: Mapping[str, Any] | None = None,
    tags_key: str | None = None,
    tags_call: Callable[[AwsClient, Item], Mapping[str, str]] | None = None,
    pages: bool = True,
) -> Recover:
    """Return a search in a service without a filter by tag, for items with the inputs' values, each of which is
    required.

    `parameters_from` maps the operation's parameters to inputs, `constants` are parameters that are always the same.
    The tags are compared if the item has them under `tags_key`, or `tags_call` reads them.
    """

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        parameters = {
            **(constants or {}),
            **{name: inputs[source] for name, source in (parameters_from or {}).items()},
        }
        items = (
            aws.all(service, operation, key, **parameters) if pages else aws.ask(service, operation, **parameters)[key]
        )
        alike = [item for item in items if _is_described(inputs, item, pairs, tags_key)]
        return [
            str(value_at(item, id_path))
            for item in alike
            if tags_call is None or bears_tags(inputs, tags_call(aws, item))
        ]

    return find


def _is_described(inputs: Inputs, item: Item, pairs: Mapping[str, str], tags_key: str | None) -> bool:
    if any(key not in inputs for key in pairs) or not agrees(inputs, item, pairs):
        return False
    states = {str(item.get(word, "")).lower() for word in ("Status", "status", "State", "DBInstanceStatus")}
    return not states & ENDED_STATES and (tags_key is None or bears_tags(inputs, tags_of(item, tags_key)))


def tags_by_call(service: str, parameter: str, arn: str, key: str) -> Callable[[AwsClient, Item], Mapping[str, str]]:
    """Return a function that reads an item's tags: `parameter` takes the ARN, which the item has under `arn`."""

    def read(aws: AwsClient, item: Item) -> Mapping[str, str]:
        return tags_of(aws.ask(service, "list_tags_for_resource", **{parameter: item[arn]}), key)

    return read


def account_of(aws: AwsClient) -> str:
    """Return the number of the caller's account."""
    return str(aws.ask("sts", "get_caller_identity")["Account"])
