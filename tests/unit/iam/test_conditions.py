"""Condition operators of IAM against values, sets of values and missing keys."""

from typing import Any

import pytest

from landbridge.catalog.aws.access.iam import iam
from landbridge.ops.iam.conditions import _OPERATORS, UnknownOperator, met
from landbridge.ops.iam.match import Context, Unresolved, arn_matches, matches

HOME = {"aws:username": "ana", "aws:PrincipalTag/team": "vision", "aws:TagKeys": ["a", "b"], "s": "Vision"}
ROWS: list[tuple[str, str, Any, Context, bool]] = [
    ("StringEquals", "s", "Vision", HOME, True),
    ("StringEquals", "s", "vision", HOME, False),
    ("StringEquals", "S", "Vision", HOME, True),  # keys have no case
    ("StringEquals", "s", ["other", "Vision"], HOME, True),
    ("StringEquals", "s", "V*", HOME, False),  # here * is a plain character
    ("StringEquals", "gone", "x", HOME, False),
    ("StringEqualsIfExists", "gone", "x", HOME, True),
    ("StringEqualsIfExists", "s", "x", HOME, False),
    ("StringNotEquals", "s", "Vision", HOME, False),
    ("StringNotEquals", "s", ["Vision", "x"], HOME, False),
    ("StringNotEquals", "gone", "x", HOME, True),  # a missing key differs from every value
    ("StringEqualsIgnoreCase", "s", "vISION", HOME, True),
    ("StringNotEqualsIgnoreCase", "s", "vISION", HOME, False),
    ("StringLike", "s", "V?sio*", HOME, True),
    ("StringLike", "s", "${aws:PrincipalTag/team}", HOME, False),
    ("StringLike", "team", "${aws:PrincipalTag/team}", {**HOME, "team": "vision"}, True),
    ("StringLike", "team", "${aws:nobody, 'vision'}", {"team": "vision"}, True),
    ("StringLike", "team", "a${*}", {"team": "ab"}, False),
    ("StringLike", "team", "a${*}", {"team": "a*"}, True),
    ("StringNotLike", "s", "V*", HOME, False),
    ("NumericEquals", "n", 5, {"n": "5.0"}, True),
    ("NumericNotEquals", "n", "5", {"n": "6"}, True),
    ("NumericLessThan", "n", "5", {"n": "4"}, True),
    ("NumericLessThanEquals", "n", "5", {"n": "5"}, True),
    ("NumericGreaterThan", "n", "5", {"n": "5"}, False),
    ("NumericGreaterThanEquals", "n", "5", {"n": "5"}, True),
    ("NumericEquals", "n", "many", {"n": "5"}, False),
    ("DateEquals", "d", "2026-11-20T00:00:00Z", {"d": "2026-11-20T01:00:00+01:00"}, True),
    ("DateNotEquals", "d", "2026-11-20", {"d": "2026-11-20T00:00:00Z"}, False),
    ("DateLessThan", "d", "2026-11-21T00:00:00Z", {"d": "2026-11-20T00:00:00Z"}, True),
    ("DateLessThanEquals", "d", "1000000000", {"d": "1000000000"}, True),
    ("DateGreaterThan", "d", "2026-11-20T00:00:00Z", {"d": "2026-11-20T00:00:00Z"}, False),
    ("DateGreaterThanEquals", "d", "yesterday", {"d": "2026-11-20T00:00:00Z"}, False),
    ("Bool", "b", True, {"b": "true"}, True),
    ("Bool", "b", "false", {"b": "true"}, False),
    ("Bool", "b", "false", {}, False),  # a missing key is not "false"
    ("BoolIfExists", "b", "false", {}, True),
    ("BinaryEquals", "b", "QQ==", {"b": "QQ=="}, True),
    ("IpAddress", "ip", "10.0.0.0/8", {"ip": "10.2.3.4"}, True),
    ("NotIpAddress", "ip", ["10.0.0.0/8", "192.0.2.0/24"], {"ip": "192.0.2.1"}, False),
    ("NotIpAddress", "ip", "10.0.0.0/8", {}, True),
    ("ArnLike", "a", "arn:aws:s3:::b*", {"a": "arn:aws:s3:::bucket"}, True),
    ("ArnLike", "a", "arn:aws:*:b", {"a": "arn:aws:s3:::b"}, False),  # * does not match a colon
    ("ArnEquals", "a", "arn:aws:iam::*:role/x", {"a": "arn:aws:iam::1:role/x"}, True),
    ("ArnNotEquals", "a", "arn:aws:iam::1:role/x", {"a": "arn:aws:iam::1:role/x"}, False),
    ("ArnNotLike", "a", "arn:aws:iam::1:role/x", {"a": "arn:aws:iam::1:role/y"}, True),
    ("Null", "gone", "true", HOME, True),
    ("Null", "s", "true", HOME, False),
    ("Null", "s", False, HOME, True),
    ("ForAllValues:StringEquals", "aws:TagKeys", ["a", "b", "c"], HOME, True),
    ("ForAllValues:StringEquals", "aws:TagKeys", ["a"], HOME, False),
    ("ForAllValues:StringEquals", "gone", ["a"], HOME, True),  # the trap: true for a missing key
    ("ForAllValues:StringEquals", "e", ["a"], {"e": []}, True),
    ("ForAllValues:StringNotEquals", "aws:TagKeys", ["c"], HOME, True),
    ("ForAnyValue:StringEquals", "aws:TagKeys", ["b"], HOME, True),
    ("ForAnyValue:StringEquals", "aws:TagKeys", ["c"], HOME, False),
    ("ForAnyValue:StringEquals", "gone", ["a"], HOME, False),
    ("ForAnyValue:StringNotEquals", "gone", ["a"], HOME, False),
    ("ForAnyValue:StringNotEquals", "aws:TagKeys", ["a"], HOME, True),
]


@pytest.mark.parametrize(("operator", "key", "value", "context", "expected"), ROWS)
def test_an_operator(operator: str, key: str, value: Any, context: Context, expected: bool) -> None:
    assert met({operator: {key: value}}, context) is expected


def test_every_operator_that_iam_has_is_known_and_tried() -> None:
    tried = {row[0].split(":")[-1].removesuffix("IfExists") for row in ROWS}
    assert tried == set(iam().operators)
    assert set(_OPERATORS) <= set(iam().operators)


def test_operators_and_keys_are_anded() -> None:
    both = {"StringEquals": {"s": "Vision", "aws:username": "ana"}, "Null": {"gone": "true"}}
    assert met(both, HOME)
    assert not met({**both, "Bool": {"b": "true"}}, HOME)
    assert not met({"StringEquals": {"s": "Vision", "aws:username": "bob"}}, HOME)


def test_a_misspelt_operator_is_an_error() -> None:
    with pytest.raises(UnknownOperator):
        met({"StringEqual": {"s": "x"}}, HOME)


def test_a_variable_without_a_value_is_an_error() -> None:
    with pytest.raises(Unresolved):
        matches("${aws:nobody}", "x", {})
    with pytest.raises(Unresolved):
        matches("${aws:TagKeys}", "a", HOME)


@pytest.mark.parametrize(
    ("pattern", "arn", "expected"),
    [
        ("*", "anything", True),
        ("arn:aws:s3:::data/*", "arn:aws:s3:::data/a/b", True),
        ("arn:aws:s3:::data/*", "arn:aws:s3:::data", False),
        ("arn:aws:s3:::data*", "arn:aws:s3:::database/x", True),
        ("arn:aws:ec2:*:1:instance/*", "arn:aws:ec2:us-east-1:1:instance/i-1", True),
        ("arn:aws:ec2:*:instance/*", "arn:aws:ec2:us-east-1:1:instance/i-1", False),
        ("arn:aws:s3:::a-b-????????????", "arn:aws:s3:::a-b-123456789012", True),
        ("arn:aws:s3:::a-b-????????????", "arn:aws:s3:::a-b-c-123456789012", False),
        ("arn:aws:s3:::${aws:username}/*", "arn:aws:s3:::ana/x", True),
        ("arn:aws:s3:::DATA/*", "arn:aws:s3:::data/x", False),
        ("arn:aws:logs:r:1:log-group:/x:*", "arn:aws:logs:r:1:log-group:/x:log-stream:y", True),
    ],
)
def test_an_arn(pattern: str, arn: str, expected: bool) -> None:
    assert arn_matches(pattern, arn, HOME) is expected
