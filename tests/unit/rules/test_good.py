"""Correct environments violate no rule: users turn off a check with false alarms."""

from typing import Any

import pytest

from landbridge.findings import DataPath
from tests.unit.core.samples import findings

STATEMENTS: DataPath = ("aws", "iam", "node_statements")
KEY = "arn:aws:kms:us-east-1:123456789012:key/0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f"

STATEMENTS_OF_TEAMS: list[dict[str, Any]] = [
    {"actions": ["s3:GetObject", "s3:PutObject"], "resources": ["arn:aws:s3:::datasets/*"]},
    {"actions": ["s3:ListBucket", "s3:GetObject"], "resources": ["arn:aws:s3:::datasets", "arn:aws:s3:::datasets/*"]},
    {"actions": ["s3:Get*", "s3:List*"], "resources": ["arn:aws:s3:::datasets*"]},
    {"actions": ["ec2:DescribeInstances", "ec2:DescribeTags"], "resources": ["*"]},
    {"actions": ["ecr:GetAuthorizationToken"], "resources": ["*"]},
    {
        "actions": ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
        "resources": ["arn:aws:ecr:us-east-1:123456789012:repository/train/*"],
    },
    {"actions": ["kms:Decrypt", "kms:GenerateDataKey*"], "resources": [KEY]},
    {"actions": ["kms:Decrypt"], "resources": ["*"], "why": "keys of partners are made every week"},
    {"actions": ["cloudwatch:PutMetricData"], "resources": ["*"], "why": "metrics have no names before they are put"},
    {"actions": ["sts:AssumeRole"], "resources": ["arn:aws:iam::123456789012:role/readers/*"]},
    {"actions": ["ssm:GetParameter"], "resources": ["arn:aws:ssm:us-east-1:123456789012:parameter/train/*"]},
    {"actions": ["ssm:SendCommand"], "resources": ["arn:aws:ec2:us-east-1:123456789012:instance/*"]},
    {
        "actions": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "resources": ["arn:aws:logs:us-east-1:*:log-group:/t:*"],
    },
    {"effect": "Deny", "actions": ["s3:*"], "resources": ["arn:aws:s3:::secrets", "arn:aws:s3:::secrets/*"]},
    {
        "effect": "Deny",
        "actions": ["ec2:*"],
        "resources": ["*"],
        "conditions": {"Bool": {"aws:SecureTransport": False}},
    },
    {
        "effect": "Deny",
        "actions": ["s3:*"],
        "resources": ["*"],
        "conditions": {"StringNotEqualsIfExists": {"aws:SourceVpc": "vpc-0123456789abcdef0"}},
    },
    {
        "actions": ["s3:GetObject"],
        "resources": ["arn:aws:s3:::datasets/*"],
        "conditions": {
            "Bool": {"aws:SecureTransport": True},
            "IpAddress": {"aws:SourceIp": ["198.51.100.0/24"]},
            "StringLike": {"aws:PrincipalTag/team": ["vision-*"]},
            "NumericLessThan": {"s3:max-keys": 100},
            "DateGreaterThan": {"aws:CurrentTime": "2026-01-01T00:00:00Z"},
            "ArnLike": {"aws:SourceArn": "arn:aws:iam::*:role/x"},
        },
    },
]


@pytest.mark.parametrize("statement", STATEMENTS_OF_TEAMS, ids=lambda statement: statement["actions"][0])
def test_a_good_statement(statement: dict[str, Any]) -> None:
    reported = findings({STATEMENTS: [statement]})
    assert [finding for finding in reported if finding.rule != "not-built-yet"] == []
