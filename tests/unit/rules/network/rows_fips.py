"""Mistakes with FIPS endpoints."""

from tests.unit.rules.row import Row

FEDERAL = {
    ("data_classes", "internal"): {"sites": ["onprem", "aws"], "regime": "fedramp_moderate"},
}

ROWS = [
    Row("fips-in-closed-network", "a federal class in a VPC that has interface endpoints only", FEDERAL, ("aws", "nat"), "standard names"),
    Row("fips-custom-endpoint", "a federal class behind an own AWS endpoint", {**FEDERAL, ("aws", "endpoints"): {"operator": "http://192.0.2.9:4580"}}, ("aws", "endpoints", "operator"), "replaces them"),
]  # fmt: skip
