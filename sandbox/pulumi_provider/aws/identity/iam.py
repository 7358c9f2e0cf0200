"""IAM roles, role policies and instance profiles."""

import json
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


def same_document(text: str, document: Any) -> str:
    """Return `text` if AWS's document is equal, so that formatting gives no difference; else AWS's document."""
    other = json.loads(document) if isinstance(document, str) else document
    return text if json.loads(text) == other else json.dumps(other, sort_keys=True)


class _IamResource(AwsResource):
    @property
    def iam(self) -> Any:
        return self.cloud.client("iam")

    def _get(self, call: Any, key: str, **arguments: Any) -> Any | None:
        """Return a resource, or None; IAM's read operations return an object, not a list."""
        return first_or_none(lambda **a: {key: [call(**a)[key]]}, key, **arguments)


class IamRoleResource(_IamResource):
    token = "aws:iam/role:Role"
    cloudformation = CloudFormationType("AWS::IAM::Role", names={"name": "RoleName"})
    replaces = frozenset({"name", "namePrefix", "path"})
    autoname = "name"

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {"PermissionsBoundary": news["permissionsBoundary"]} if news.get("permissionsBoundary") else {}
        role = self.iam.create_role(
            RoleName=news["name"],
            Path=news.get("path", "/"),
            AssumeRolePolicyDocument=news["assumeRolePolicy"],
            Description=news.get("description", ""),
            Tags=tag_list(news.get("tags")),
            **parameters,
        )["Role"]
        return news["name"], {"arn": role["Arn"], "uniqueId": role["RoleId"], "path": role["Path"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        role = self._get(self.iam.get_role, "Role", RoleName=id_)
        if role is None:
            return None
        trust = same_document(state["assumeRolePolicy"], role["AssumeRolePolicyDocument"])
        return {
            "arn": role["Arn"],
            "uniqueId": role["RoleId"],
            "path": role["Path"],
            "assumeRolePolicy": trust,
            "permissionsBoundary": role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn"),
            "tags": tag_map(role.get("Tags")),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "assumeRolePolicy" in changed:
            self.iam.update_assume_role_policy(RoleName=id_, PolicyDocument=news["assumeRolePolicy"])
        if "permissionsBoundary" in changed:
            self._bound(id_, news.get("permissionsBoundary"))
        if "tags" in changed:
            _retag(self.iam.tag_role, self.iam.untag_role, {"RoleName": id_}, state, news)
        other_changes = changed - {"assumeRolePolicy", "permissionsBoundary", "tags"}
        return super().update(id_, state, news, other_changes) if other_changes else {}

    def _bound(self, name: str, boundary: str | None) -> None:
        if boundary is None:
            self.iam.delete_role_permissions_boundary(RoleName=name)
        else:
            self.iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=boundary)

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.iam.delete_role, RoleName=id_)


class IamRolePolicyResource(_IamResource):
    token = "aws:iam/rolePolicy:RolePolicy"
    cloudformation = CloudFormationType("AWS::IAM::RolePolicy", names={"name": "PolicyName"})
    replaces = frozenset({"name", "namePrefix", "role"})
    autoname = "name"

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.iam.put_role_policy(RoleName=news["role"], PolicyName=news["name"], PolicyDocument=news["policy"])
        return f"{news['role']}:{news['name']}", {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        role, _, name = id_.partition(":")
        policy = self._get(self.iam.get_role_policy, "PolicyDocument", RoleName=role, PolicyName=name)
        return None if policy is None else {"policy": same_document(state["policy"], policy)}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        self.create(news)
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        role, _, name = id_.partition(":")
        ignore_missing(self.iam.delete_role_policy, RoleName=role, PolicyName=name)


class IamRolePolicyAttachmentResource(_IamResource):
    token = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    cloudformation = None
    replaces = frozenset({"role", "policyArn"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.iam.attach_role_policy(RoleName=news["role"], PolicyArn=news["policyArn"])
        return f"{news['role']}/{news['policyArn']}", {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        attached = self._get(self.iam.list_attached_role_policies, "AttachedPolicies", RoleName=state["role"])
        return {} if state["policyArn"] in [policy["PolicyArn"] for policy in attached or []] else None

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.iam.detach_role_policy, RoleName=state["role"], PolicyArn=state["policyArn"])


class InstanceProfileResource(_IamResource):
    token = "aws:iam/instanceProfile:InstanceProfile"
    cloudformation = CloudFormationType("AWS::IAM::InstanceProfile", names={"name": "InstanceProfileName"})
    replaces = frozenset({"name", "namePrefix", "path"})
    autoname = "name"

    def create(self, news: Bag) -> tuple[str, Bag]:
        name = news["name"]
        response = self.iam.create_instance_profile(
            InstanceProfileName=name, Path=news.get("path", "/"), Tags=tag_list(news.get("tags"))
        )
        self.exists(name)
        if "role" in news:
            self.iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=news["role"])
        profile = response["InstanceProfile"]
        return name, {"arn": profile["Arn"], "uniqueId": profile["InstanceProfileId"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        profile = self._get(self.iam.get_instance_profile, "InstanceProfile", InstanceProfileName=id_)
        if profile is None:
            return None
        roles = [role["RoleName"] for role in profile["Roles"]]
        outputs = {"arn": profile["Arn"], "uniqueId": profile["InstanceProfileId"]}
        return {**outputs, "role": roles[0] if roles else None, "tags": tag_map(profile.get("Tags"))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "role" in changed:
            self._empty(id_)
            self.iam.add_role_to_instance_profile(InstanceProfileName=id_, RoleName=news["role"])
        if "tags" in changed:
            target = {"InstanceProfileName": id_}
            _retag(self.iam.tag_instance_profile, self.iam.untag_instance_profile, target, state, news)
        return {}

    def _empty(self, name: str) -> None:
        profile = self._get(self.iam.get_instance_profile, "InstanceProfile", InstanceProfileName=name)
        for role in (profile or {}).get("Roles", []):
            self.iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName=role["RoleName"])

    def delete(self, id_: str, state: Bag) -> None:
        self._empty(id_)
        ignore_missing(self.iam.delete_instance_profile, InstanceProfileName=id_)


def _retag(tag: Any, untag: Any, target: Bag, state: Bag, news: Bag) -> None:
    before, after = state.get("tags") or {}, news.get("tags") or {}
    dropped = [key for key in before if key not in after]
    if dropped:
        untag(**target, TagKeys=dropped)
    if after:
        tag(**target, Tags=tag_list(after))
