"""Conditions of statements: operators, sets of values, and keys that a request does not have."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from typing import Any

from landbridge.ops.iam.match import Context, arn_matches, equals, matches, values_of

Compare = Callable[[str, str, Context], bool]
_IF_EXISTS, _ALL, _ANY = "IfExists", "ForAllValues:", "ForAnyValue:"


class UnknownOperator(ValueError):
    """Condition operator that IAM does not have: IAM would have refused the policy."""


def met(conditions: Mapping[str, Mapping[str, Any]], context: Context) -> bool:
    """Return true when every key of every operator is met; of several values of one key, one suffices."""
    return all(
        _met(operator, key, value, context) for operator, keys in conditions.items() for key, value in keys.items()
    )


def _met(operator: str, key: str, value: Any, context: Context) -> bool:
    wanted = tuple(map(_text, value if isinstance(value, list | tuple) else [value]))
    found = values_of(context, key)
    if operator == "Null":
        return ((found is None) == (wanted[0] == "true")) if wanted else False
    prefix = next((one for one in (_ALL, _ANY) if operator.startswith(one)), "")
    bare = operator.removeprefix(prefix)
    optional = bare.endswith(_IF_EXISTS)
    compare, negated = _operator(bare.removesuffix(_IF_EXISTS))

    def one(actual: str) -> bool:
        return any(compare(pattern, actual, context) for pattern in wanted) is not negated

    if found is None or (prefix and not found):
        # What is not there differs from everything, and is equal to nothing; of no values, all are as they should be.
        return optional or prefix == _ALL or (negated and not prefix)
    return all(map(one, found)) if prefix == _ALL or (negated and not prefix) else any(map(one, found))


def _operator(name: str) -> tuple[Compare, bool]:
    negated = "Not" in name
    plain = name.replace("Not", "")
    if plain not in _OPERATORS:
        raise UnknownOperator(name)
    return _OPERATORS[plain], negated


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(test: Callable[[float, float], bool]) -> Compare:
    def compare(wanted: str, actual: str, context: Context) -> bool:
        try:
            return test(float(actual), float(wanted))
        except ValueError:
            return False

    return compare


def _moment(test: Callable[[datetime, datetime], bool]) -> Compare:
    def compare(wanted: str, actual: str, context: Context) -> bool:
        try:
            return test(_time(actual), _time(wanted))
        except ValueError:
            return False

    return compare


def _time(text: str) -> datetime:
    if text.isdigit():
        return datetime.fromtimestamp(int(text), UTC)
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _inside(wanted: str, actual: str, context: Context) -> bool:
    try:
        return ip_address(actual) in ip_network(wanted, strict=False)
    except ValueError:
        return False


def _same(wanted: str, actual: str, context: Context) -> bool:
    return wanted.lower() == actual.lower()


_OPERATORS: dict[str, Compare] = {
    "StringEquals": equals,
    "StringEqualsIgnoreCase": lambda wanted, actual, context: equals(wanted, actual, context, ignore_case=True),
    "StringLike": matches,
    "NumericEquals": _number(lambda actual, wanted: actual == wanted),
    "NumericLessThan": _number(lambda actual, wanted: actual < wanted),
    "NumericLessThanEquals": _number(lambda actual, wanted: actual <= wanted),
    "NumericGreaterThan": _number(lambda actual, wanted: actual > wanted),
    "NumericGreaterThanEquals": _number(lambda actual, wanted: actual >= wanted),
    "DateEquals": _moment(lambda actual, wanted: actual == wanted),
    "DateLessThan": _moment(lambda actual, wanted: actual < wanted),
    "DateLessThanEquals": _moment(lambda actual, wanted: actual <= wanted),
    "DateGreaterThan": _moment(lambda actual, wanted: actual > wanted),
    "DateGreaterThanEquals": _moment(lambda actual, wanted: actual >= wanted),
    "Bool": _same,
    "BinaryEquals": lambda wanted, actual, context: wanted == actual,
    "IpAddress": _inside,
    "ArnEquals": arn_matches,
    "ArnLike": arn_matches,
}
