"""A policy that stands by itself."""

from typing import Any

from sandbox.engine.aws.base import Bag, Kind, found, gone, tag_list, tag_map
from sandbox.engine.aws.iam import same_document


class Policy(Kind):
    token = "aws:iam/policy:Policy"
    replaces = frozenset({"name", "namePrefix", "path", "description"})
    autoname = "name"

    @property
    def iam(self) -> Any:
        return self.cloud.client("iam")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.iam.create_policy(
            PolicyName=news["name"],
            Path=news.get("path", "/"),
            PolicyDocument=news["policy"],
            Description=news.get("description", ""),
            Tags=tag_list(news.get("tags")),
        )["Policy"]
        return made["Arn"], {"arn": made["Arn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        policy = found(lambda **a: {"it": [self.iam.get_policy(**a)["Policy"]]}, "it", PolicyArn=id_)
        if policy is None:
            return None
        version = self.iam.get_policy_version(PolicyArn=id_, VersionId=policy["DefaultVersionId"])["PolicyVersion"]
        return {"policy": same_document(state["policy"], version["Document"]), "tags": tag_map(policy.get("Tags"))}

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.iam.delete_policy, PolicyArn=id_)


KINDS = (Policy,)
