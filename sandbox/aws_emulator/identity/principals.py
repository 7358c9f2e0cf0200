"""Lookup of IAM roles and policies, for services that check the roles and policies of a request."""

import json
from typing import Any
from urllib.parse import unquote

import moto.backends
from moto.utilities.utils import get_partition

from landbridge.ops.iam import Document
from sandbox.aws_emulator.identity import aws_managed_policies as managed
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT


def role(region: str, name: str) -> Any | None:
    """Return the role with this ARN or name (with or without path), or None."""
    path_and_name = name.split(":role/", 1)[-1].strip("/")
    for role in _iam(region).roles.values():
        if name == role.arn or (":" not in name and path_and_name in (role.name, f"{role.path}{role.name}".strip("/"))):
            return role
    return None


def roles_of_profile(region: str, name: str) -> list[Any]:
    """Return the roles of the instance profile with this ARN or name."""
    profiles = _iam(region).instance_profiles.values()
    return [role for profile in profiles if name in (profile.arn, profile.name) for role in profile.roles]


def policy(region: str, arn: str) -> Any | None:
    """Return the customer managed or AWS managed policy of this ARN, or None."""
    managed.load(_iam(region), arn)
    return _iam(region).managed_policies.get(arn)


def session_role(region: str, access_key: str | None) -> Any | None:
    """Return the role whose session has this access key, or None for the key of an operator."""
    sts = moto.backends.get_backend("sts")[ACCOUNT][get_partition(region or "us-east-1")]
    session = sts.get_assumed_role_from_access_key(access_key or "")
    return None if session is None else role(region, session.role_arn)


def documents(iam_role: Any) -> tuple[Document, ...]:
    """Return the policies of a role: inline ones and attached ones."""
    inline = [Document.of(name, _text(text)) for name, text in iam_role.policies.items()]
    return (*inline, *(Document.of(arn, _text(row.document)) for arn, row in iam_role.managed_policies.items()))


def _text(document: Any) -> str:
    """Return a policy as JSON; moto stores it as the query protocol has encoded it."""
    text = str(document)
    return text if text.lstrip().startswith("{") else unquote(text)


def trusts(iam_role: Any, service: str) -> bool:
    """Return whether a role's trust policy has the service as principal."""
    trust_policy = iam_role.assume_role_policy_document
    document = json.loads(trust_policy) if isinstance(trust_policy, str) else trust_policy
    statements = document["Statement"] if isinstance(document["Statement"], list) else [document["Statement"]]
    for statement in statements:
        principal = statement.get("Principal", {})
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        if statement["Effect"] == "Allow" and service in ([services] if isinstance(services, str) else services):
            return True
    return False


def _iam(region: str) -> Any:
    return moto.backends.get_backend("iam")[ACCOUNT][get_partition(region or "us-east-1")]
