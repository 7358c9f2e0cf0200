"""Checks of IAM policies and service-linked roles of the account."""

from collections.abc import Iterator

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.catalog.aws.access.service_linked_roles import service_linked_roles
from landbridge.environment import Spot
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning


@check("policies", "iam:GetPolicy")
def policy(scene: Scene) -> Iterator[Finding]:
    """The permissions boundary and every policy of the roles of nodes exist in this account or are AWS managed policies.

    Source: IAM API reference, GetPolicy; IAM User Guide, "Permissions boundaries for IAM entities".
    """
    iam = scene.environment.aws.iam
    policy_arns: list[tuple[str, DataPath]] = [
        (arn, ("aws", "iam", "node_policies", index)) for index, arn in enumerate(iam.node_policies)
    ]
    policy_arns += [
        (arn, ("aws", "pools", number, "node_policies", index))
        for number, pool in enumerate(scene.environment.aws.pools)
        for index, arn in enumerate(pool.node_policies)
    ]
    if iam.permissions_boundary is not None:
        policy_arns.insert(0, (iam.permissions_boundary, ("aws", "iam", "permissions_boundary")))
    for arn, path in policy_arns:
        owner = arn.split(":")[4]
        if scene.account is not None and owner not in ("aws", scene.account):
            message = f"{arn} is a policy of account {owner}, and roles can have policies of their own account only ({scene.account})"
            yield error("live-policy", message, path, f"write it with {scene.account}")
            continue
        try:
            policy = scene.aws.ask("iam", "get_policy", PolicyArn=arn)["Policy"]
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            yield error("live-policy", f"there is no policy {arn}", path, "create it first, or correct its path")
            continue
        if not policy.get("IsAttachable", True):
            yield warning("live-policy", f"{arn} cannot be attached", path)


@check("service-linked roles", "iam:GetRole")
def service_linked_role(scene: Scene) -> Iterator[Finding]:
    """The account has the service-linked role of spot if a pool has spot capacity.

    EC2 creates it at the first spot launch with the permission of the launch role, which a permissions boundary or a
    service control policy can take away; then EC2 refuses every spot launch. Other services create their roles at the
    first call of `landbridge up`.
    Source: EC2 User Guide, "Service-linked role for Spot Instance requests": callers of the API ensure that it exists.
    """
    path = next((bought.at("kind") for bought in scene.bought() if isinstance(bought.capacity, Spot)), None)
    spot = service_linked_roles()["spot"]
    if path is None:
        return
    try:
        scene.aws.ask("iam", "get_role", RoleName=spot.role)
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        message = f"this account has no service-linked role {spot.role}: without it EC2 launches no spot instance"
        yield warning("live-service-linked-role", message, path, f"run once: {spot.command}")
