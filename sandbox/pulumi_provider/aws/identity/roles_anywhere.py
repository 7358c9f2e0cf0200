"""IAM Roles Anywhere trust anchors and profiles."""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, found, gone


class _Part(AwsResource):
    #: The operations' noun, and the member of an answer with the resource.
    noun: ClassVar[str]
    word: ClassVar[str]
    #: Inputs that an update tells.
    told: ClassVar[tuple[str, ...]]
    #: Values of a read besides name, switch and tags.
    shown: ClassVar[tuple[str, ...]]

    @property
    def anywhere(self) -> Any:
        return self.cloud.client("rolesanywhere")

    def call(self, verb: str, **given: Any) -> Bag:
        answer: Bag = getattr(self.anywhere, f"{verb}_{self.noun}")(**given)[self.word]
        return answer

    def request(self, news: Bag, *keys: str) -> Bag:
        """The inputs as the API has them."""
        return {key: news[key] for key in keys if news.get(key) is not None}

    def create(self, news: Bag) -> tuple[str, Bag]:
        tags = [{"key": key, "value": value} for key, value in (news.get("tags") or {}).items()]
        asked = self.request(news, *self.told, *self.at_first)
        made = self.call("create", **asked, enabled=news.get("enabled", False), tags=tags)
        return self.exists(made[f"{self.word}Id"]), self._seen(made)

    #: Inputs that only creating takes.
    at_first: ClassVar[tuple[str, ...]] = ()

    def _seen(self, item: Bag) -> Bag:
        own = {key: item.get(key) for key in ("name", "enabled", *self.shown)}
        return {**own, "arn": item[f"{self.word}Arn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = found(lambda **given: {"it": [self.call("get", **given)]}, "it", **{f"{self.word}Id": id_})
        if item is None:
            return None
        seen = self._seen(item)
        tags = self.anywhere.list_tags_for_resource(resourceArn=seen["arn"])["tags"]
        return {**seen, "tags": {tag["key"]: tag["value"] for tag in tags} or None}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        own = {f"{self.word}Id": id_}
        rest = changed - {"tags", "enabled", *self.told, *self.apart}
        if rest:
            super().update(id_, state, news, rest)
        if changed & set(self.told):
            self.call("update", **own, **self.request(news, *self.told))
        if "enabled" in changed:
            self.call("enable" if news.get("enabled") else "disable", **own)
        if "tags" in changed:
            self._tag(state["arn"], state.get("tags") or {}, news.get("tags") or {})
        self.changed(id_, news, changed)
        return self.read(id_, state) or {}

    #: Inputs that an operation of their own changes.
    apart: ClassVar[frozenset[str]] = frozenset()

    def changed(self, id_: str, news: Bag, changed: frozenset[str]) -> None:
        """Change values that have a separate operation."""

    def _tag(self, arn: str, before: Bag, after: Bag) -> None:
        dropped = [key for key in before if key not in after]
        if dropped:
            self.anywhere.untag_resource(resourceArn=arn, tagKeys=dropped)
        self.anywhere.tag_resource(resourceArn=arn, tags=[{"key": k, "value": v} for k, v in after.items()])

    def delete(self, id_: str, state: Bag) -> None:
        gone(lambda **given: self.call("delete", **given), **{f"{self.word}Id": id_})


class TrustAnchorResource(_Part):
    token = "aws:rolesanywhere/trustAnchor:TrustAnchor"
    cloudformation = CloudFormationType("AWS::RolesAnywhere::TrustAnchor")
    noun, word = "trust_anchor", "trustAnchor"
    told, at_first, apart = ("name", "source"), ("notificationSettings",), frozenset({"notificationSettings"})
    shown = ("source", "notificationSettings")

    def changed(self, id_: str, news: Bag, changed: frozenset[str]) -> None:
        if changed & self.apart:
            settings = news.get("notificationSettings") or []
            self.anywhere.put_notification_settings(trustAnchorId=id_, notificationSettings=settings)


class RolesAnywhereProfileResource(_Part):
    token = "aws:rolesanywhere/profile:Profile"
    cloudformation = CloudFormationType("AWS::RolesAnywhere::Profile")
    replaces = frozenset({"requireInstanceProperties"})
    noun, word = "profile", "profile"
    told = ("name", "roleArns", "durationSeconds", "managedPolicyArns", "sessionPolicy", "acceptRoleSessionName")
    at_first = ("requireInstanceProperties",)
    shown = told[1:]
