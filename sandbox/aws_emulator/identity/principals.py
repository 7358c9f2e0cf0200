"""IAM roles and policies, for services that check whether a role or policy in a request exists."""

import json
from typing import Any

import moto.backends
from moto.utilities.utils import get_partition

from sandbox.aws_emulator.identity import aws_managed_policies as managed
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT


def role(region: str, name: str) -> Any | None:
    """Return the role with this ARN or name (with or without path), or None."""
    own = name.split(":role/", 1)[-1].strip("/")
    for role in _iam(region).roles.values():
        if name == role.arn or (":" not in name and own in (role.name, f"{role.path}{role.name}".strip("/"))):
            return role
    return None


def policy(region: str, arn: str) -> Any | None:
    """The managed policy of this ARN, the account's or AWS's own."""
    managed.know(_iam(region), arn)
    return _iam(region).managed_policies.get(arn)


def trusts(one: Any, service: str) -> bool:
    """Tell whether a role's trust policy names the service as principal."""
    document = one.assume_role_policy_document
    said = json.loads(document) if isinstance(document, str) else document
    statements = said["Statement"] if isinstance(said["Statement"], list) else [said["Statement"]]
    for statement in statements:
        principal = statement.get("Principal", {})
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        if statement["Effect"] == "Allow" and service in ([services] if isinstance(services, str) else services):
            return True
    return False


def _iam(region: str) -> Any:
    return moto.backends.get_backend("iam")[ACCOUNT][get_partition(region or "us-east-1")]
