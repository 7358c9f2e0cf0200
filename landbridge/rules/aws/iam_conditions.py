"""Rules about the conditions of statements."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from typing import Any

from landbridge.catalog.aws.iam import iam
from landbridge.catalog.network import network
from landbridge.environment import Environment, Statement
from landbridge.findings import DataPath, Finding, Severity, did_you_mean, error
from landbridge.rules.registry import rule

_STATEMENTS: DataPath = ("aws", "iam", "node_statements")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\d{9,13}")
_WITH_NAME = ("aws:principaltag", "aws:requesttag", "aws:resourcetag")


@rule
def iam_condition_operator(environment: Environment) -> Iterator[Finding]:
    """A condition starts with an operator that IAM has; for another it refuses the whole policy.

    Source: IAM User Guide, "IAM JSON policy elements: Condition operators".
    """
    for path, _, operator, keys in _conditions(environment):
        if _base(operator) is None:
            near = did_you_mean(_bare(operator), iam().operators)
            fix = f'did you mean "{near}"?' if near else "such as StringEquals"
            yield error(path, f'IAM has no condition operator "{operator}"', fix=fix)
        elif not keys:
            yield error(path, f"{operator} compares nothing", fix="name a key and a value")


@rule
def iam_condition_key(environment: Environment) -> Iterator[Finding]:
    """A condition's key is a service's or one of IAM's own; a key that nobody sets is never equal to anything.

    Source: IAM User Guide, "AWS global condition context keys"; Service Authorization Reference.
    """
    own = {key.lower(): key for key in iam().global_keys}
    for path, _, _, keys in _conditions(environment):
        for key in keys:
            service, colon, name = key.partition(":")
            here = (*path, key)
            if not colon or not name:
                message = f'the condition key "{key}" names no service'
                yield error(here, message, fix="such as aws:SourceVpc")
            elif service.lower() == "aws":
                if key.partition("/")[0].lower() not in own:
                    near = did_you_mean(key.partition("/")[0], own.values())
                    fix = f'did you mean "{near}"?' if near else None
                    yield error(here, f'IAM has no condition key "{key}"', fix=fix)
                elif key.lower() in _WITH_NAME:
                    message = f"{key} needs the tag's name"
                    yield error(here, message, fix=f"such as {key}/landbridge:cluster")
            elif service.lower() not in iam().services and service.lower() not in ("saml", "www.amazon.com"):
                near = did_you_mean(service, iam().services)
                fix = f'did you mean "{near}:{name}"?' if near else None
                yield error(here, f'there is no service "{service}" in IAM', fix=fix)


@rule
def iam_condition_value(environment: Environment) -> Iterator[Finding]:
    """A value has the type of its operator: IAM takes others, and the condition is then never met.

    Source: IAM User Guide, "IAM JSON policy elements: Condition operators".
    """
    for path, _, operator, keys in _conditions(environment):
        base = _base(operator)
        for key, value in keys.items():
            for one in value if isinstance(value, list) else [value]:
                problem = _problem(base, one) if base is not None else None
                if problem is not None:
                    yield error((*path, key), f"{operator} {key}: {problem}")


@rule
def iam_condition_never_true(environment: Environment) -> Iterator[Finding]:
    """A condition can be met. Two that look right never are.

    StringEquals takes * as a letter. aws:SourceIp is a public address, and not set at all for requests through VPC
    endpoints, which see aws:VpcSourceIp. And ForAllValues is met by a request without the key: with Allow, by anybody.
    Source: IAM User Guide, "Condition operators", "aws:SourceIp" and "Multivalued context keys".
    """
    for path, statement, operator, keys in _conditions(environment):
        base = _base(operator)
        for key, value in keys.items():
            values = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
            message = fix = None
            starred = any("*" in one.replace("${*}", "") for one in values)
            if base in ("StringEquals", "StringNotEquals") and starred:
                message, fix = f"{operator} takes * as a letter", f"use {base.replace('Equals', 'Like')}"
            elif base in ("IpAddress", "NotIpAddress") and key.lower() == "aws:sourceip" and _all_private(values):
                message = "aws:SourceIp is a public address; these are private"
                fix = "use aws:VpcSourceIp for requests through VPC endpoints"
            elif operator.startswith("ForAllValues:") and statement.effect == "Allow" and not _has_null(statement, key):
                message = f"a request without {key} meets ForAllValues, so it is allowed"
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
    """The operator without what may stand around it; None for one that there is not."""
    if operator == "NullIfExists":
        return None
    bare = _bare(operator)
    return bare if bare in iam().operators else None


def _problem(base: str, value: Any) -> str | None:
    if value is None or isinstance(value, (dict, list)):
        return "the value is no plain one"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if base in ("Bool", "Null") and text not in ("true", "false"):
        return f"{text} is neither true nor false"
    if base.startswith("Numeric"):
        return None if re.fullmatch(r"-?\d+(\.\d+)?", text) else f"{text} is no number"
    if base.startswith("Date"):
        return None if _DATE.fullmatch(text) else f"{text} is no date as 2026-12-31T00:00:00Z"
    if base in ("IpAddress", "NotIpAddress"):
        return None if _network(text) else f"{text} is no range of addresses"
    if base.startswith("Arn") and not text.startswith(("arn:", "*", "${")):
        return f"{text} is no ARN"
    return None


def _network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _all_private(values: list[str]) -> bool:
    networks = [IPv4Network(one, strict=False) for one in values if _network(one) and ":" not in one]
    return bool(networks) and all(network().is_private(one) for one in networks)


def _has_null(statement: Statement, key: str) -> bool:
    return key.lower() in (name.lower() for name in statement.conditions.get("Null", {}))
