"""S3 bucket policies with conditions. moto 5.2 ignores conditions, so a conditional Deny would refuse every object.

The emulated AWS has no certificates. Loopback and the lab's bridges count as TLS here, so `aws:SecureTransport` is
true. Conditions on headers use the request's headers. An unknown operator counts as true, so a Deny applies.
"""

import json
from collections.abc import Mapping
from typing import Any

from moto.iam.access_control import IAMPolicyStatement, PermissionResult
from moto.s3.models import FakeBucket


def install() -> None:
    """Install this evaluation in moto's buckets. Repeated calls have no effect."""
    FakeBucket.get_permission = _get_permission


def _get_permission(bucket: FakeBucket, action: str, resource: str) -> PermissionResult:
    if bucket.policy is None:
        return PermissionResult.NEUTRAL
    statements = json.loads(bucket.policy)["Statement"]
    results = [_judge(statement, action, resource, _context()) for statement in _listed(statements)]
    for result in (PermissionResult.DENIED, PermissionResult.PERMITTED):
        if result in results:
            return result
    return PermissionResult.NEUTRAL


def _judge(statement: dict[str, Any], action: str, resource: str, context: Mapping[str, str]) -> PermissionResult:
    if not _matches(statement.get("Condition", {}), context):
        return PermissionResult.NEUTRAL
    bare = {key: value for key, value in statement.items() if key != "Condition"}
    return IAMPolicyStatement(bare).is_action_permitted(action, resource)


def _matches(conditions: Mapping[str, Mapping[str, Any]], context: Mapping[str, str]) -> bool:
    return all(
        _holds(operator, context.get(key), [str(value) for value in _listed(values)])
        for operator, keys in conditions.items()
        for key, values in keys.items()
    )


def _holds(operator: str, actual: str | None, values: list[str]) -> bool:
    base = operator.removesuffix("IfExists")
    if base == "Null":
        return (actual is None) == (values[0].lower() == "true")
    if actual is None:
        # As in IAM: an absent value differs from every value, and IfExists is true without it.
        return base == "StringNotEquals" or base != operator
    match base:
        case "Bool":
            return actual.lower() == values[0].lower()
        case "StringEquals":
            return actual in values
        case "StringNotEquals":
            return actual not in values
        case _:
            return True


def _context() -> dict[str, str]:
    """Return the condition keys of the current request."""
    from flask import has_request_context, request

    context = {"aws:SecureTransport": "true"}
    if has_request_context():
        for name, value in request.headers.items():
            if name.lower().startswith("x-amz-"):
                context[f"s3:{name.lower()}"] = value
    return context


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


__all__ = ["install"]
