"""Checks of the account's own IAM policies that roles refer to."""

from collections.abc import Iterator

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning


@check("policies", "iam:GetPolicy")
def policy(scene: Scene) -> Iterator[Finding]:
    """The permissions boundary and every policy on the nodes' role exist, and the account has them.

    Source: IAM API reference, GetPolicy; IAM User Guide, "Permissions boundaries for IAM entities".
    """
    iam = scene.environment.aws.iam
    wanted: list[tuple[str, DataPath]] = [
        (arn, ("aws", "iam", "node_policies", index)) for index, arn in enumerate(iam.node_policies)
    ]
    if iam.permissions_boundary is not None:
        wanted.insert(0, (iam.permissions_boundary, ("aws", "iam", "permissions_boundary")))
    for arn, path in wanted:
        owner = arn.split(":")[4]
        if scene.account is not None and owner not in ("aws", scene.account):
            message = f"{arn} is a policy of account {owner}, and roles take those of their own ({scene.account})"
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
