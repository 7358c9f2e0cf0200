"""Checks of the KMS keys that encrypt the disks of nodes and of hosts of model servers."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.catalog.aws.access.service_linked_roles import service_linked_roles
from landbridge.environment import Spot
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, info
from landbridge.plan.aws.access.disk_keys import GRANT, disk_keys, region_of, users

_RULE = "live-disk-key"
#: Source: EC2 User Guide, "Service-linked role for Spot Instance requests", access to customer managed keys (2026-11-29).
_SPOT_OPERATIONS = (
    "Decrypt Encrypt GenerateDataKey GenerateDataKeyWithoutPlaintext CreateGrant DescribeKey ReEncryptFrom ReEncryptTo"
)


@check("the keys of the disks", "ec2:GetEbsDefaultKmsKeyId", "kms:DescribeKey", "kms:GetKeyPolicy", "kms:ListGrants")
def disk_key(scene: Scene) -> Iterator[Finding]:
    """The account's default key for volumes and the keys in the file are usable, by the roles that launch too.

    With another key EC2 accepts a launch and ends the instances some seconds later; the only reason that it reports is
    Client.InternalError. Denials and conditions in a key's policy are not evaluated.
    Source: EBS User Guide, "EBS encryption" (default key, required permissions); EC2 User Guide, "Instance terminates
    immediately"; KMS Developer Guide, "Default key policy".
    """
    if not scene.environment.aws.pools:
        return
    keys = {key: path for key, path in disk_keys(scene.environment).items() if region_of(key) == scene.aws.region}
    default = str(scene.aws.ask("ec2", "get_ebs_default_kms_key_id")["KmsKeyId"])
    if not default.endswith("alias/aws/ebs"):
        keys.setdefault(default, ("aws", "pools"))
    named = set(disk_keys(scene.environment))
    for key, path in keys.items():
        words = f"the default KMS key of EBS, {key}," if key == default else f"the KMS key {key}"
        try:
            metadata = scene.aws.ask("kms", "describe_key", KeyId=key)["KeyMetadata"]
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            yield error(_RULE, f"{words} does not exist: {refused.message}", path)
            continue
        if metadata["KeyState"] != "Enabled":
            message = f"{words} is {metadata['KeyState']}: nodes would terminate right after their start"
            yield error(_RULE, message, path, f"aws kms enable-key --key-id {key}")
        elif metadata.get("KeyManager") == "CUSTOMER" and metadata["Arn"] not in named:
            message = f"{words} is your own key, and aws.disk_keys does not have it: no role of Landbridge may use it"
            yield error(_RULE, message, ("aws", "disk_keys"), f'write disk_keys: ["{metadata["Arn"]}"]')
        elif metadata.get("KeyManager") == "CUSTOMER":
            yield from _roles(scene, metadata["Arn"], path)


def _roles(scene: Scene, key: str, path: DataPath) -> Iterator[Finding]:
    """Yield the roles that the policy of the key does not permit to use it."""
    owner = key.split(":")[4]
    if owner != scene.account:
        message = f"{key} is a key of another account, whose policy only that account can read: it must permit {scene.account} to use it"
        yield info(_RULE, message, path)
        return
    policy = json.loads(
        scene.aws.ask("kms", "get_key_policy", KeyId=key.rpartition("/")[2], PolicyName="default")["Policy"]
    )
    for role, actions in users(scene.environment):
        arn = f":iam::{owner}:role{scene.environment.aws.iam.path}{role}"
        missing = [action for action in actions if not _permits(policy, action, owner, arn)]
        if missing:
            message = f"the policy of {key} does not permit the role {role} to use it: {', '.join(missing)}"
            fix = f"delegate to the account (Principal arn:aws:iam::{owner}:root, Action kms:*), or name the role"
            yield error(_RULE, message, path, fix)
    spot = service_linked_roles()["spot"]
    arn = f"arn:{key.split(':')[1]}:iam::{owner}:role/{spot.path}"
    grants = (
        scene.aws.ask("kms", "list_grants", KeyId=key, GranteePrincipal=arn)["Grants"] if _has_spot(scene) else True
    )
    # EC2 starts spot instances with this role, which has no rights on your own keys; delegation to the account is not enough.
    if not grants and not _permits(policy, GRANT[0], "", arn):
        message = f"spot instances cannot have disks with {key}: {spot.role} has no grant for it"
        fix = f"aws kms create-grant --key-id {key} --grantee-principal {arn} --operations {_SPOT_OPERATIONS}"
        yield error(_RULE, message, path, fix)


def _has_spot(scene: Scene) -> bool:
    return any(isinstance(bought.capacity, Spot) for bought in scene.bought())


def _permits(policy: Mapping[str, Any], action: str, account: str, role: str) -> bool:
    """Return whether a statement of a key's policy permits an action to a role, by its name or through its account."""
    for statement in _list(policy["Statement"]):
        principal = statement.get("Principal", {})
        named = [principal] if isinstance(principal, str) else _list(principal.get("AWS", []))
        is_named = any(name in ("*", account) or name.endswith((f":iam::{account}:root", role)) for name in named)
        patterns = [str(pattern).lower() for pattern in _list(statement.get("Action", []))]
        if (
            statement["Effect"] == "Allow"
            and is_named
            and any(fnmatchcase(action.lower(), pattern) for pattern in patterns)
        ):
            return True
    return False


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]
