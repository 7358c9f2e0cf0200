"""Mistakes with services and regulated data that a region does not have."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
CLASS: DataPath = ("data_classes", "secret")


def regulated(regime: str) -> dict[DataPath, object]:
    """Return the changes for a data class that may be at both sites."""
    return {CLASS: {"sites": ["onprem", "aws"], "regime": regime}}


ROWS = [
    Row("service-not-in-region", "a Capacity Block in a region without them", {(*POOL, "instance"): "p5en.48xlarge", (*POOL, "capacity", 0): {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "euc1-az1"}}, (*POOL, "capacity", 0, "kind"), "eu-central-1", region="eu-central-1"),
    Row("class-not-in-region", "ITAR data in a commercial region", regulated("itar"), (*CLASS, "sites"), "us-gov"),
    Row("class-not-in-region", "FedRAMP High data in a commercial region", regulated("fedramp_high"), (*CLASS, "sites"), "us-gov"),
    Row("class-not-in-region", "Europeans' data in the United States", regulated("gdpr"), (*CLASS, "sites"), "eu-"),
    Row("class-not-in-region", "health data outside the United States", regulated("hipaa"), (*CLASS, "sites"), "us-", region="eu-west-1"),
    Row("class-not-in-region", "classified data in AWS", {CLASS: {"sites": ["aws"], "regime": "classified"}}, (*CLASS, "sites"), "on-prem under"),
    Row("class-obligations", "health data in AWS without an agreement", regulated("hipaa"), (*CLASS, "regime"), "business associate"),
]  # fmt: skip
