"""IAM and IAM Roles Anywhere: roles, policies, instance profiles, trust anchors."""

from collections.abc import Iterator

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import SETS, Inputs, Item, ResourceType, Search, Sweep
from landbridge.aws_resources.search import (
    agrees,
    bears_tags,
    cluster_tag,
    delete_by,
    listed,
    tags_by_call,
    tags_of,
)
from landbridge.catalog.aws.regions import regions

_ANYWHERE = "rolesanywhere"


def _recover_role(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the role of this name with the inputs' tags."""
    role = aws.ask("iam", "get_role", RoleName=inputs["name"])["Role"]
    is_same = bears_tags(inputs, tags_of(role)) and agrees(inputs, role, {"path": "Path"})
    return [str(inputs["name"])] if is_same else []


def _recover_instance_profile(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the instance profile of this name with the inputs' tags."""
    profile = aws.ask("iam", "get_instance_profile", InstanceProfileName=inputs["name"])["InstanceProfile"]
    return [str(inputs["name"])] if bears_tags(inputs, tags_of(profile)) else []


def _recover_policy(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the policies of this name and path with the inputs' tags."""
    policies = aws.all("iam", "list_policies", "Policies", Scope="Local", PathPrefix=inputs.get("path", "/"))
    arns = [str(policy["Arn"]) for policy in policies if policy["PolicyName"] == inputs["name"]]
    return [arn for arn in arns if bears_tags(inputs, tags_of(aws.ask("iam", "list_policy_tags", PolicyArn=arn)))]


def _search(operation: str, key: str, arn: str) -> Search:
    """Return a search in IAM Roles Anywhere, which does not filter by tag; empty in a region without the service."""

    def find(aws: AwsClient, cluster: str) -> Iterator[Item]:
        region = regions().get(aws.region)
        if region is not None and _ANYWHERE not in region.services:
            return
        for item in aws.all(_ANYWHERE, operation, key):
            pairs = aws.ask(_ANYWHERE, "list_tags_for_resource", resourceArn=item[arn])["tags"]
            tags = [{"Key": pair["key"], "Value": pair["value"]} for pair in pairs]
            if cluster_tag(cluster) in tags:
                yield {**item, "Tags": tags}

    return find


_PROFILES = ("list_profiles", "profiles")
_ANCHORS = ("list_trust_anchors", "trustAnchors")

RESOURCE_TYPES = (
    ResourceType("IAM role", "aws:iam/role:Role", recover=_recover_role),
    ResourceType("IAM role policy", "aws:iam/rolePolicy:RolePolicy", repeatable=SETS),
    ResourceType("IAM role policy attachment", "aws:iam/rolePolicyAttachment:RolePolicyAttachment", repeatable=SETS),
    ResourceType("IAM policy", "aws:iam/policy:Policy", recover=_recover_policy),
    ResourceType("instance profile", "aws:iam/instanceProfile:InstanceProfile", recover=_recover_instance_profile),
    ResourceType(
        "IAM Roles Anywhere profile", "aws:rolesanywhere/profile:Profile",
        recover=listed(_ANYWHERE, *_PROFILES, "profileId", {"name": "name"},
                       tags_call=tags_by_call(_ANYWHERE, "resourceArn", "profileArn", "tags")),
        sweep=Sweep(370, _search(*_PROFILES, "profileArn"), "profileId",
                    delete_by(_ANYWHERE, "delete_profile", "profileId", "profileId"))),
    # A certificate of its authority can still be exchanged for credentials.
    ResourceType(
        "trust anchor", "aws:rolesanywhere/trustAnchor:TrustAnchor",
        recover=listed(_ANYWHERE, *_ANCHORS, "trustAnchorId", {"name": "name"},
                       tags_call=tags_by_call(_ANYWHERE, "resourceArn", "trustAnchorArn", "tags")),
        sweep=Sweep(380, _search(*_ANCHORS, "trustAnchorArn"), "trustAnchorId",
                    delete_by(_ANYWHERE, "delete_trust_anchor", "trustAnchorId", "trustAnchorId"))),
)  # fmt: skip
