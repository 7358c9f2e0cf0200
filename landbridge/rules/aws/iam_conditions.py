"""Rules about the conditions of IAM statements."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from typing import Any

from landbridge.catalog.aws.access.iam import iam
from landbridge.catalog.network import network
from landbridge.environment import Environment, Statement
from landbridge.findings import DataPath, Finding, Severity, did_you_mean, error
from landbridge.rules.registry import rule

_STATEMENTS: DataPath = ("aws", "iam", "node_statements")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\d{9,13}")
_WITH_NAME = ("aws:principaltag", "aws:requesttag", "aws:resourcetag")


@rule
def iam_condition_operator(environment: Environment) -> Iterator[Finding]:
    """A condition operator exists in IAM: otherwise IAM refuses the whole policy.

    Source: IAM User Guide, "IAM JSON policy elements: Condition operators".
    """
    for path, _, operator, keys in _conditions(environment):
        if _base(operator) is None:
            near = did_you_mean(_bare(operator), iam().operators)
            fix = f'did you mean "{near}"?' if near else "use an operator such as StringEquals"
            yield error(path, f'IAM has no condition operator "{operator}"', fix=fix)
        elif not keys:
            yield error(path, f"the condition {operator} has no key", fix="name a key and a value")


@rule
def iam_condition_key(environment: Environment) -> Iterator[Finding]:
    """A condition key is a global key of IAM or a key of a service; a key that does not exist never matches.

    Source: IAM User Guide, "AWS global condition context keys"; Service Authorization Reference.
    """
    global_keys = {key.lower(): key for key in iam().global_keys}
    for path, _, _, keys in _conditions(environment):
        for key in keys:
            service, colon, name = key.partition(":")
            key_path = (*path, key)
            if not colon or not name:
                message = f'the condition key "{key}" has no service prefix'
                yield error(key_path, message, fix="write prefix:Name, such as aws:SourceVpc")
            elif service.lower() == "aws":
                if key.partition("/")[0].lower() not in global_keys:
                    near = did_you_mean(key.partition("/")[0], global_keys.values())
                    fix = f'did you mean "{near}"?' if near else None
                    yield error(key_path, f'IAM has no condition key "{key}"', fix=fix)
                elif key.lower() in _WITH_NAME:
                    message = f"{key} has no tag key"
                    yield error(key_path, message, fix=f"append the tag key, such as {key}/landbridge:cluster")
            elif service.lower() not in iam().services and service.lower() not in ("saml", "www.amazon.com"):
                near = did_you_mean(service, iam().services)
                fix = f'did you mean "{near}:{name}"?' if near else None
                yield error(key_path, f'there is no service "{service}" in IAM', fix=fix)


@rule
def iam_condition_value(environment: Environment) -> Iterator[Finding]:
    """A value has the type of its operator: IAM accepts other values, and the condition is then never true.

    Source: IAM User Guide, "IAM JSON policy elements: Condition operators".
    """
    for path, _, operator, keys in _conditions(environment):
        base = _base(operator)
        for key, value in keys.items():
            for item in value if isinstance(value, list) else [value]:
                problem = _problem(base, item) if base is not None else None
                if problem is not None:
                    yield error((*path, key), f"{operator} {key}: {problem}")


@rule
def iam_condition_never_true(environment: Environment) -> Iterator[Finding]:
    """A condition can be true. Two forms that look right never are, and one always is.

    StringEquals compares * as a character. aws:SourceIp is a public address, and is not set for requests through VPC
    endpoints, which set aws:VpcSourceIp. ForAllValues is true for a request without the key: with Allow, for every
    caller.
    Source: IAM User Guide, "Condition operators", "aws:SourceIp" and "Multivalued context keys".
    """
    for path, statement, operator, keys in _conditions(environment):
        base = _base(operator)
        for key, value in keys.items():
            values = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
            message = fix = None
            starred = any("*" in text_value.replace("${*}", "") for text_value in values)
            if base in ("StringEquals", "StringNotEquals") and starred:
                message, fix = (
                    f"{operator} compares * as a character, not as a wildcard",
                    f"use {base.replace('Equals', 'Like')}",
                )
            elif base in ("IpAddress", "NotIpAddress") and key.lower() == "aws:sourceip" and _all_private(values):
                message = "aws:SourceIp is a public address, and these ranges are private"
                fix = "use aws:VpcSourceIp for requests through VPC endpoints"
            elif operator.startswith("ForAllValues:") and statement.effect == "Allow" and not _has_null(statement, key):
                message = f"ForAllValues is true for a request without {key}, so such a request is allowed"
                fix = f'add {{"Null": {{"{key}": false}}}}'
            if message is not None:
                severity = Severity.WARNING
                yield Finding("iam-condition-never-true", message, (*path, key), fix, severity, (path[:-1],))


def _conditions(environment: Environment) -> Iterator[tuple[DataPath, Statement, str, dict[str, Any]]]:
    for index, statement in enumerate(environment.aws.iam.node_statements):
        for operator, keys in statement.conditions.items():
            yield (*_STATEMENTS, index, "conditions", operator), statement, operator, keys


def _bare(operator: str) -> str:
    return operator.removeprefix("ForAllValues:").removeprefix("ForAnyValue:").removesuffix("IfExists")


def _base(operator: str) -> str | None:
    """Return the operator without prefix and suffix; None for an operator that IAM does not have."""
    if operator == "NullIfExists":
        return None
    bare = _bare(operator)
    return bare if bare in iam().operators else None


def _problem(base: str, value: Any) -> str | None:
    if value is None or isinstance(value, (dict, list)):
        return "the value is not a text, number or boolean"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if base in ("Bool", "Null") and text not in ("true", "false"):
        return f"{text} is neither true nor false"
    if base.startswith("Numeric"):
        return None if re.fullmatch(r"-?\d+(\.\d+)?", text) else f"{text} is not a number"
    if base.startswith("Date"):
        return None if _DATE.fullmatch(text) else f"{text} is not a date such as 2026-12-31T00:00:00Z"
    if base in ("IpAddress", "NotIpAddress"):
        return None if _network(text) else f"{text} is not a CIDR range"
    if base.startswith("Arn") and not text.startswith(("arn:", "*", "${")):
        return f"{text} is not an ARN"
    return None


def _network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _all_private(values: list[str]) -> bool:
    networks = [IPv4Network(value, strict=False) for value in values if _network(value) and ":" not in value]
    return bool(networks) and all(network().is_private(cidr) for cidr in networks)


def _has_null(statement: Statement, key: str) -> bool:
    return key.lower() in (name.lower() for name in statement.conditions.get("Null", {}))
