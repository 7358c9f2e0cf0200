"""Adapter of Landbridge's policies to CrossGuard: converts Pulumi's values to plain data. The policies decide."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi_policy as crossguard
from pulumi_policy.proxy import UnknownValueError

from landbridge.policy import POLICIES, Level, Policy, PolicySettings, Resource

_LEVELS = {
    Level.MANDATORY: crossguard.EnforcementLevel.MANDATORY,
    Level.ADVISORY: crossguard.EnforcementLevel.ADVISORY,
}


def policies() -> list[crossguard.Policy]:
    """Return all policies, each with the settings that it reads as its configuration schema."""
    return [_of_one(policy) if policy.check_resource is not None else _of_all(policy) for policy in POLICIES.values()]


def plain(value: Any) -> Any:
    """Convert Pulumi's proxies to plain data; values that are unknown in a preview become None.

    A proxy raises an exception for an unknown value, and Pulumi then skips the policy for that resource.
    """
    if isinstance(value, Mapping):
        return {key: _at(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_at(value, index) for index in range(len(value))]
    return value


def _at(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except UnknownValueError:
        return None


def _resource(args: Any) -> Resource:
    """Convert a CrossGuard resource, from a resource validation or a stack validation. CrossGuard does not give retainOnDelete."""
    props = plain(args.props)
    return Resource(
        type=args.resource_type,
        name=args.name,
        props=props,
        urn=args.urn,
        id=props.get("id"),
        protect=args.opts.protect,
        defaults=plain(args.provider.props) if args.provider is not None else {},
    )


def _settings(args: Any) -> PolicySettings:
    return PolicySettings.model_validate(dict(args.get_config()))


def _of_one(policy: Policy) -> crossguard.ResourceValidationPolicy:
    check = policy.check_resource
    assert check is not None

    def validate(args: crossguard.ResourceValidationArgs, report: Callable[..., None]) -> None:
        if policy.types and args.resource_type not in policy.types:
            return
        for message in check(_resource(args), _settings(args)):
            report(message)

    return crossguard.ResourceValidationPolicy(
        policy.name, policy.description, validate, _LEVELS[policy.level], config_schema=_schema(policy)
    )


def _of_all(policy: Policy) -> crossguard.StackValidationPolicy:
    check = policy.check_stack
    assert check is not None

    def validate(args: crossguard.StackValidationArgs, report: Callable[..., None]) -> None:
        for resource, message in check(
            tuple(_resource(graph_resource) for graph_resource in args.resources), _settings(args)
        ):
            report(f"{resource.name}: {message}", resource.urn)

    return crossguard.StackValidationPolicy(
        policy.name, policy.description, validate, _LEVELS[policy.level], config_schema=_schema(policy)
    )


def _schema(policy: Policy) -> crossguard.PolicyConfigSchema | None:
    if not policy.config:
        return None
    known = PolicySettings.model_json_schema()["properties"]
    properties = {
        name: {key: value for key, value in known[name].items() if key in ("type", "items", "default", "description")}
        for name in policy.config
    }
    return crossguard.PolicyConfigSchema(properties)
