"""Record of one AWS resource type: recovery of a resource, search and deletion of a leftover, and cost."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge.aws_api.client import AwsClient
from landbridge.catalog.aws.impact import TypeImpact, impact_facts

Inputs = Mapping[str, Any]
Item = Mapping[str, Any]
#: Return the ids, as Pulumi's AWS provider reads them, of the resources that these inputs describe. Raises KeyError if
#: the inputs do not identify one yet, AwsRefusal if AWS refuses. Source of the ids: section Import of each type's
#: page in the registry of Pulumi's AWS provider.
Recover = Callable[[AwsClient, Inputs], Sequence[str]]
#: Return the items that have the tag of a cluster.
Search = Callable[[AwsClient, str], Iterable[Item]]
Delete = Callable[[AwsClient, Item], None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Search for resources with a cluster's tag, and their deletion.

    Resources are deleted in rising `rank`: a type's rank is above that of each type that can hold it. `id_key` and
    `tags_key` are keys of an item, `name_keys` further keys that can have its name.
    """

    rank: int
    find: Search
    id_key: str
    delete: Delete
    tags_key: str = "Tags"


@dataclass(frozen=True, slots=True)
class ResourceType:
    """AWS resource type. `token` is Pulumi's, None for a type that only AWS or the burst controller creates.

    `repeatable` is the reason why a creation that was cut short can be done again; without it `recover` finds the
    resource. `finish` completes a recovered resource. `billed`: it costs money while it exists. `holds_data`: sweep
    deletes it only by id. `not_swept` is the reason why a billed type, or one that holds data, has no `sweep`.
    """

    noun: str
    token: str | None = None
    recover: Recover | None = None
    repeatable: str = ""
    finish: Callable[[AwsClient, str], None] | None = None
    sweep: Sweep | None = None
    billed: bool = False
    holds_data: bool = False
    not_swept: str = ""

    @property
    def impact(self) -> TypeImpact | None:
        """Return the impact of a change: the row of catalog/impact.yaml, or the default of a type without data.

        None for a type without a token.
        """
        if self.token is None:
            return None
        default = TypeImpact(noun=self.noun, holds=self.noun if self.holds_data else None)
        return impact_facts().of_type(self.token) or default

    def id(self, item: Item) -> str:
        """Return the id of an item of the search."""
        if self.sweep is None:
            raise ValueError(f"{self.noun} has no sweep")
        return str(item[self.sweep.id_key])

    def tags(self, item: Item) -> dict[str, str]:
        """Return the tags of an item of the search."""
        key = self.sweep.tags_key if self.sweep else "Tags"
        return {str(tag["Key"]): str(tag["Value"]) for tag in item.get(key) or ()}


#: Reasons of `repeatable` and `not_swept` that several types share.
SETS = "the call sets the value, however often it is made"
FIXED_NAME = "its name is fixed: the next `up` recovers it"
