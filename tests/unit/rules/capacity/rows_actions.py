"""Mistakes with scripts of pools."""

from typing import Any

from tests.unit.rules.network.rows_other_regions import GOOD as OTHER_REGION
from tests.unit.rules.parts import POOL
from tests.unit.rules.row import Row

ACTIONS = (*POOL, "actions")
FIRST = (*ACTIONS, "node_start", 0)
SHA = "0" * 64
HUB = "test-internal-123456789012"
NAT = {("aws", "nat"): "single"}


def entry(bucket: str = "acme-scripts", key: str = "setup.sh", **settings: Any) -> dict[str, Any]:
    return {"script": f"s3://{bucket}/{key}", "sha256": SHA, **settings}


def start(*entries: dict[str, Any]) -> dict[tuple[str | int, ...], Any]:
    """Return the change for a pool with these scripts at the start of its nodes."""
    return {ACTIONS: {"node_start": list(entries)}}


KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd"
ROWS = [
    Row("missing-key", "a script without its checksum", {ACTIONS: {"node_start": [{"script": "s3://b-c/x"}]}}, (*FIRST, "sha256"), "no default"),
    Row("wrong-format", "a script by its HTTPS address", start({"script": "https://acme-scripts.s3.amazonaws.com/x", "sha256": SHA}), (*FIRST, "script"), "s3://acme-scripts/nodes/setup.sh"),
    Row("wrong-format", "all scripts of a folder", start(entry(key="nodes/*")), (*FIRST, "script"), "s3://acme-scripts/nodes/setup.sh"),
    Row("wrong-format", "a bucket without an object", start({"script": "s3://acme-scripts", "sha256": SHA}), (*FIRST, "script"), "an object of S3"),
    Row("action-region", "a script in an unknown region", {**start(entry(region="us-west-9")), **NAT}, (*FIRST, "region"), "us-west-2"),
    Row("action-region", "a script in another partition", {**start(entry(region="us-gov-west-1")), **NAT}, (*FIRST, "region"), "partition aws-us-gov"),
    Row("action-region", "a script in another region without NAT", start(entry(region="us-west-2")), (*FIRST, "region"), "nat: single"),
    Row("action-in-hub", "a script in a bucket of a class that stays on-prem", start(entry("test-restricted-123456789012")), (*FIRST, "script"), "may not be in AWS"),
    Row("action-in-hub", "a script in a bucket of the hub in another region", {**start(entry(HUB, region="us-west-2")), **NAT}, (*FIRST, "region"), "is a bucket of the data hub"),
    Row("action-in-hub", "a script that jobs can overwrite", start(entry(HUB)), (*FIRST, "script"), "jobs of the class internal can overwrite"),
    Row("action-key", "a key for a script in the hub", start(entry(HUB, kms_key=KEY)), (*FIRST, "kms_key"), "whose key is known"),
    Row("action-key", "a key in another region than the script", start(entry(kms_key=KEY)), (*FIRST, "kms_key"), "region: us-west-2"),
    Row("action-time", "scripts that may take longer than the start of a node", start(entry(timeout=1200)), ACTIONS, "1200 s together"),
    Row("action-time", "scripts that leave no time for the boot", start(*[entry()] * 3), ACTIONS, "write resume_timeout: 1500"),
    Row("action-other-region", "a script far from the nodes of another region", {**OTHER_REGION, **start(entry())}, (*FIRST, "script"), "nodes of p5 in us-east-2"),
    Row("action-unchecked", "scripts and no check that the image runs them", {**start(entry()), ("aws", "node_checks"): {"skip": ["dcgm", "units"]}}, ("aws", "node_checks", "skip", 1), "remove units"),
    Row("action-user-data-size", "arguments that do not fit the user data", start(entry(arguments=["x" * 500] * 17)), ACTIONS, "8192 are available"),
    Row("action-policy-size", "scripts that do not fit the policy of the nodes' role", start(*[entry(key=f"{n}{'k' * 890}", timeout=1) for n in range(8)]), ("aws", "pools"), "shorter keys"),
]  # fmt: skip
