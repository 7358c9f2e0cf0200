"""IAM managed policies."""

from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)
from sandbox.pulumi_provider.aws.identity.iam import same_document


class IamPolicyResource(AwsResource):
    token = "aws:iam/policy:Policy"
    cloudformation = CloudFormationType("AWS::IAM::ManagedPolicy", names={"name": "ManagedPolicyName"})
    replaces = frozenset({"name", "namePrefix", "path", "description"})
    autoname = "name"

    @property
    def iam(self) -> Any:
        return self.cloud.client("iam")

    def create(self, news: Bag) -> tuple[str, Bag]:
        policy = self.iam.create_policy(
            PolicyName=news["name"],
            Path=news.get("path", "/"),
            PolicyDocument=news["policy"],
            Description=news.get("description", ""),
            Tags=tag_list(news.get("tags")),
        )["Policy"]
        return policy["Arn"], {"arn": policy["Arn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        policy = first_or_none(lambda **a: {"it": [self.iam.get_policy(**a)["Policy"]]}, "it", PolicyArn=id_)
        if policy is None:
            return None
        version = self.iam.get_policy_version(PolicyArn=id_, VersionId=policy["DefaultVersionId"])["PolicyVersion"]
        return {"policy": same_document(state["policy"], version["Document"]), "tags": tag_map(policy.get("Tags"))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"policy", "tags"}:
            super().update(id_, state, news, changed - {"policy", "tags"})
        if "policy" in changed:
            # As the real provider does: IAM stores five versions, and does not delete old ones by itself.
            self._delete_old_versions(id_, 4)
            self.iam.create_policy_version(PolicyArn=id_, PolicyDocument=news["policy"], SetAsDefault=True)
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            self.iam.untag_policy(PolicyArn=id_, TagKeys=[key for key in before if key not in after])
            self.iam.tag_policy(PolicyArn=id_, Tags=tag_list(after))
        return {"arn": state["arn"]}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, state) is not None:
            self._delete_old_versions(id_, 1)
        ignore_missing(self.iam.delete_policy, PolicyArn=id_)

    def _delete_old_versions(self, id_: str, most: int) -> None:
        """Delete the oldest versions until `most` remain; the default version stays."""
        versions = self.iam.list_policy_versions(PolicyArn=id_)["Versions"]
        old = sorted(
            (version for version in versions if not version["IsDefaultVersion"]),
            key=lambda version: int(version["VersionId"][1:]),
        )
        for version in old[: max(len(versions) - most, 0)]:
            self.iam.delete_policy_version(PolicyArn=id_, VersionId=version["VersionId"])
