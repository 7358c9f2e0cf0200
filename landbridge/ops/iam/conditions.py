"""Conditions of policy statements: operators, sets of values, and keys that a request does not have."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from typing import Any

from landbridge.ops.iam.match import Context, arn_matches, equals, matches, values_of

Compare = Callable[[str, str, Context], bool]
_IF_EXISTS, _ALL, _ANY = "IfExists", "ForAllValues:", "ForAnyValue:"


class UnknownOperator(ValueError):
    """Condition operator that IAM does not have; IAM would refuse the policy."""


def met(conditions: Mapping[str, Mapping[str, Any]], context: Context) -> bool:
    """Return whether all keys of all operators are met; one of several values of a key is sufficient."""
    return all(
        _met(operator, key, value, context) for operator, keys in conditions.items() for key, value in keys.items()
    )


def _met(operator: str, key: str, value: Any, context: Context) -> bool:
    expected = tuple(map(_text, value if isinstance(value, list | tuple) else [value]))
    actual_values = values_of(context, key)
    if operator == "Null":
        return ((actual_values is None) == (expected[0] == "true")) if expected else False
    prefix = next((quantifier for quantifier in (_ALL, _ANY) if operator.startswith(quantifier)), "")
    bare = operator.removeprefix(prefix)
    optional = bare.endswith(_IF_EXISTS)
    compare, negated = _operator(bare.removesuffix(_IF_EXISTS))

    def is_met(actual: str) -> bool:
        return any(compare(pattern, actual, context) for pattern in expected) is not negated

    if actual_values is None or (prefix and not actual_values):
        # A missing key differs from every value and equals none; ForAllValues is met for an empty set of values.
        return optional or prefix == _ALL or (negated and not prefix)
    combine = all if prefix == _ALL or (negated and not prefix) else any
    return combine(map(is_met, actual_values))


def _operator(name: str) -> tuple[Compare, bool]:
    negated = "Not" in name
    plain = name.replace("Not", "")
    if plain not in _OPERATORS:
        raise UnknownOperator(name)
    return _OPERATORS[plain], negated


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(test: Callable[[float, float], bool]) -> Compare:
    def compare(expected: str, actual: str, context: Context) -> bool:
        try:
            return test(float(actual), float(expected))
        except ValueError:
            return False

    return compare


def _date(test: Callable[[datetime, datetime], bool]) -> Compare:
    def compare(expected: str, actual: str, context: Context) -> bool:
        try:
            return test(_time(actual), _time(expected))
        except ValueError:
            return False

    return compare


def _time(text: str) -> datetime:
    if text.isdigit():
        return datetime.fromtimestamp(int(text), UTC)
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_in_network(expected: str, actual: str, context: Context) -> bool:
    try:
        return ip_address(actual) in ip_network(expected, strict=False)
    except ValueError:
        return False


def _equal_ignoring_case(expected: str, actual: str, context: Context) -> bool:
    return expected.lower() == actual.lower()


_OPERATORS: dict[str, Compare] = {
    "StringEquals": equals,
    "StringEqualsIgnoreCase": lambda expected, actual, context: equals(expected, actual, context, ignore_case=True),
    "StringLike": matches,
    "NumericEquals": _number(lambda actual, expected: actual == expected),
    "NumericLessThan": _number(lambda actual, expected: actual < expected),
    "NumericLessThanEquals": _number(lambda actual, expected: actual <= expected),
    "NumericGreaterThan": _number(lambda actual, expected: actual > expected),
    "NumericGreaterThanEquals": _number(lambda actual, expected: actual >= expected),
    "DateEquals": _date(lambda actual, expected: actual == expected),
    "DateLessThan": _date(lambda actual, expected: actual < expected),
    "DateLessThanEquals": _date(lambda actual, expected: actual <= expected),
    "DateGreaterThan": _date(lambda actual, expected: actual > expected),
    "DateGreaterThanEquals": _date(lambda actual, expected: actual >= expected),
    "Bool": _equal_ignoring_case,
    "BinaryEquals": lambda expected, actual, context: expected == actual,
    "IpAddress": _is_in_network,
    "ArnEquals": arn_matches,
    "ArnLike": arn_matches,
}
