"""Base class of EC2 resource types: tags at creation, changes of tags, describe by id."""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, first_or_none, ignore_missing, tag_list, tag_map


class Ec2Resource(AwsResource):
    """EC2 resource type with an id and tags. Subclasses define EC2's names of it."""

    #: Resource type in TagSpecifications; describe operation, its key and id parameter; delete operation and its id
    #: parameter.
    resource_type: ClassVar[str]
    describe: ClassVar[tuple[str, str, str]]
    remove: ClassVar[tuple[str, str]]
    arn_type: ClassVar[str | None] = None
    #: The output with the account id, if the type has one.
    owner: ClassVar[str | None] = None

    def tagging(self, news: Bag) -> dict[str, Any]:
        """Return TagSpecifications for the create call."""
        if not news.get("tags"):
            return {}
        return {"TagSpecifications": [{"ResourceType": self.resource_type, "Tags": tag_list(news["tags"])}]}

    def describes(self, id_: str) -> Any | None:
        """Return EC2's description, or None if the resource does not exist or is being deleted."""
        call, key, parameter = self.describe
        item = first_or_none(getattr(self.ec2, call), key, **{parameter: [id_]})
        state = item and item.get("State", item.get("Status"))
        return None if isinstance(state, str) and state.startswith("delet") else item

    def arn_of(self, id_: str) -> str:
        """Return the ARN of a resource."""
        return self.cloud.arn("ec2", f"{self.arn_type or self.resource_type}/{id_}")

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self.describes(id_)
        if item is None:
            return None
        return {**self.computed(id_, item), **self.observed(item), "tags": tag_map(item.get("Tags"))}

    def computed(self, id_: str, item: Any) -> Bag:
        """Return the outputs that AWS adds to the inputs; an import by id reads them here."""
        return {"arn": self.arn_of(id_), **({self.owner: self.cloud.account} if self.owner else {})}

    def observed(self, item: Any) -> Bag:
        """Return current inputs and outputs from EC2's description."""
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        call, parameter = self.remove
        if self.describes(id_) is None:
            return  # moto fails on some missing resources, instead of returning the error
        ignore_missing(getattr(self.ec2, call), **{parameter: id_})

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        other_changes = changed - {"tags"}
        if other_changes:
            super().update(id_, state, news, other_changes)
        self.retag(id_, state, news)
        return {}

    def retag(self, id_: str, state: Bag, news: Bag) -> None:
        """Set the tags of the new inputs, and delete the others."""
        before, after = state.get("tags") or {}, news.get("tags") or {}
        dropped = [{"Key": key} for key in before if key not in after]
        if dropped:
            self.ec2.delete_tags(Resources=[id_], Tags=dropped)
        if after != before and after:
            self.ec2.create_tags(Resources=[id_], Tags=tag_list(after))
