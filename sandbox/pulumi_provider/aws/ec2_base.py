"""Base class of EC2 resource types: tags at creation, changes of tags, describe by id."""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, found, gone, tag_list, tag_map


class Ec2Resource(AwsResource):
    """A kind with an id and tags. Subclasses name EC2's words for it."""

    #: The word in TagSpecifications, the describe and its key, the id's parameter in the delete.
    resource_type: ClassVar[str]
    describe: ClassVar[tuple[str, str, str]]
    remove: ClassVar[tuple[str, str]]
    arn_type: ClassVar[str | None] = None
    #: The output with the account's number, where there is one.
    owner: ClassVar[str | None] = None

    def tagging(self, news: Bag) -> dict[str, Any]:
        """TagSpecifications for the create call."""
        if not news.get("tags"):
            return {}
        return {"TagSpecifications": [{"ResourceType": self.resource_type, "Tags": tag_list(news["tags"])}]}

    def describes(self, id_: str) -> Any | None:
        """Return EC2's description, or None if the resource does not exist (any more)."""
        call, key, parameter = self.describe
        item = found(getattr(self.ec2, call), key, **{parameter: [id_]})
        state = item and item.get("State", item.get("Status"))
        return None if isinstance(state, str) and state.startswith("delet") else item

    def arn_of(self, id_: str) -> str:
        """The ARN of one."""
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
        """Inputs and outputs as they are now, from EC2's description."""
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        call, parameter = self.remove
        if self.describes(id_) is None:
            return  # moto fails on some missing resources, instead of returning the error
        gone(getattr(self.ec2, call), **{parameter: id_})

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        rest = changed - {"tags"}
        if rest:
            super().update(id_, state, news, rest)
        self.retag(id_, state, news)
        return {}

    def retag(self, id_: str, state: Bag, news: Bag) -> None:
        """Make the tags those of the new inputs."""
        before, after = state.get("tags") or {}, news.get("tags") or {}
        dropped = [{"Key": key} for key in before if key not in after]
        if dropped:
            self.ec2.delete_tags(Resources=[id_], Tags=dropped)
        if after != before and after:
            self.ec2.create_tags(Resources=[id_], Tags=tag_list(after))
