"""IAM Roles Anywhere trust anchors and profiles."""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, first_or_none, ignore_missing


class _Part(AwsResource):
    #: Noun of the operations, and the member of an answer with the resource.
    noun: ClassVar[str]
    word: ClassVar[str]
    #: Inputs that the update operation accepts.
    updatable: ClassVar[tuple[str, ...]]
    #: Values of a read in addition to name, enabled and tags.
    shown: ClassVar[tuple[str, ...]]

    @property
    def anywhere(self) -> Any:
        return self.cloud.client("rolesanywhere")

    def call(self, verb: str, **arguments: Any) -> Bag:
        answer: Bag = getattr(self.anywhere, f"{verb}_{self.noun}")(**arguments)[self.word]
        return answer

    def request(self, news: Bag, *keys: str) -> Bag:
        """Return the inputs `keys` that are set."""
        return {key: news[key] for key in keys if news.get(key) is not None}

    def create(self, news: Bag) -> tuple[str, Bag]:
        tags = [{"key": key, "value": value} for key, value in (news.get("tags") or {}).items()]
        request = self.request(news, *self.updatable, *self.create_only)
        response = self.call("create", **request, enabled=news.get("enabled", False), tags=tags)
        return self.exists(response[f"{self.word}Id"]), self._seen(response)

    #: Inputs that only the create operation accepts.
    create_only: ClassVar[tuple[str, ...]] = ()

    def _seen(self, item: Bag) -> Bag:
        values = {key: item.get(key) for key in ("name", "enabled", *self.shown)}
        return {**values, "arn": item[f"{self.word}Arn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(lambda **a: {"it": [self.call("get", **a)]}, "it", **{f"{self.word}Id": id_})
        if item is None:
            return None
        seen = self._seen(item)
        tags = self.anywhere.list_tags_for_resource(resourceArn=seen["arn"])["tags"]
        return {**seen, "tags": {tag["key"]: tag["value"] for tag in tags} or None}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        key = {f"{self.word}Id": id_}
        other_changes = changed - {"tags", "enabled", *self.updatable, *self.separate}
        if other_changes:
            super().update(id_, state, news, other_changes)
        if changed & set(self.updatable):
            self.call("update", **key, **self.request(news, *self.updatable))
        if "enabled" in changed:
            self.call("enable" if news.get("enabled") else "disable", **key)
        if "tags" in changed:
            self._tag(state["arn"], state.get("tags") or {}, news.get("tags") or {})
        self.changed(id_, news, changed)
        return self.read(id_, state) or {}

    #: Inputs that a separate operation changes.
    separate: ClassVar[frozenset[str]] = frozenset()

    def changed(self, id_: str, news: Bag, changed: frozenset[str]) -> None:
        """Change values that have a separate operation."""

    def _tag(self, arn: str, before: Bag, after: Bag) -> None:
        dropped = [key for key in before if key not in after]
        if dropped:
            self.anywhere.untag_resource(resourceArn=arn, tagKeys=dropped)
        self.anywhere.tag_resource(resourceArn=arn, tags=[{"key": k, "value": v} for k, v in after.items()])

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(lambda **a: self.call("delete", **a), **{f"{self.word}Id": id_})


class TrustAnchorResource(_Part):
    token = "aws:rolesanywhere/trustAnchor:TrustAnchor"
    cloudformation = CloudFormationType("AWS::RolesAnywhere::TrustAnchor")
    noun, word = "trust_anchor", "trustAnchor"
    updatable, create_only, separate = (
        ("name", "source"),
        ("notificationSettings",),
        frozenset({"notificationSettings"}),
    )
    shown = ("source", "notificationSettings")

    def changed(self, id_: str, news: Bag, changed: frozenset[str]) -> None:
        if changed & self.separate:
            settings = news.get("notificationSettings") or []
            self.anywhere.put_notification_settings(trustAnchorId=id_, notificationSettings=settings)


class RolesAnywhereProfileResource(_Part):
    token = "aws:rolesanywhere/profile:Profile"
    cloudformation = CloudFormationType("AWS::RolesAnywhere::Profile")
    replaces = frozenset({"requireInstanceProperties"})
    noun, word = "profile", "profile"
    updatable = ("name", "roleArns", "durationSeconds", "managedPolicyArns", "sessionPolicy", "acceptRoleSessionName")
    create_only = ("requireInstanceProperties",)
    shown = updatable[1:]
