"""When a thing that AWS lists is the one that was asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from landbridge.live.aws import AwsClient

Inputs = Mapping[str, Any]
Item = Mapping[str, Any]
#: The ids of what is there and is what these inputs ask for. Raises KeyError where the inputs do not tell it yet.
Find = Callable[[AwsClient, Inputs], Sequence[str]]

#: Everything that Landbridge makes bears it, where AWS has tags.
CLUSTER = "landbridge:cluster"


def value_at(item: Any, path: str) -> Any:
    """What is at `A.B.C` of an item; of a list, its first; None where there is nothing."""
    for word in path.split("."):
        if isinstance(item, Sequence) and not isinstance(item, str):
            item = item[0] if item else None
        item = item.get(word) if isinstance(item, Mapping) else None
    return item


def tags_of(item: Item, key: str = "Tags") -> dict[str, str]:
    """An item's tags, whether AWS writes them as pairs or as an object."""
    tags = item.get(key) or item.get(key.lower()) or ()
    if isinstance(tags, Mapping):
        return {str(name): str(value) for name, value in tags.items()}
    return {str(_one_of(tag, "Key", "TagKey", "key")): str(_one_of(tag, "Value", "TagValue", "value")) for tag in tags}


def _one_of(tag: Item, *keys: str) -> Any:
    return next((tag[key] for key in keys if key in tag), None)


def ours(inputs: Inputs, tags: Mapping[str, str]) -> bool:
    """Whether a thing bears every tag that was asked for, the cluster's among them: nothing else is ever taken in."""
    wanted = inputs.get("tags") or {}
    return CLUSTER in wanted and all(tags.get(key) == value for key, value in wanted.items())


def same(inputs: Inputs, item: Item, pairs: Mapping[str, str]) -> bool:
    """Whether an item is as asked for, in what cannot be changed about it. What was not asked for says nothing."""
    return all(_text(inputs[key]) == _text(value_at(item, path)) for key, path in pairs.items() if key in inputs)


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def ec2(
    operation: str,
    key: str,
    id_key: str,
    pairs: Mapping[str, str] | None = None,
    *,
    tags: str = "Tags",
    filters: str = "Filters",
    pages: bool = True,
    gone: Iterable[str] = ("deleting", "deleted", "failed"),
) -> Find:
    """Things that EC2 lists by their tag."""
    ended = frozenset(gone)

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        asked: dict[str, Any] = {filters: [{"Name": f"tag:{CLUSTER}", "Values": [inputs["tags"][CLUSTER]]}]}
        items = aws.all("ec2", operation, key, **asked) if pages else aws.ask("ec2", operation, **asked)[key]
        return [
            str(item[id_key])
            for item in items
            if ours(inputs, tags_of(item, tags))
            and same(inputs, item, pairs or {})
            and str(item.get("State", item.get("Status", ""))).lower() not in ended
        ]

    return find
