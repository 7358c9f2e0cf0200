"""Scripts of pools in the plan: the file of a node, the objects of the nodes' role, and the contract of images."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.plan.aws.access.actions import action_objects
from landbridge.plan.aws.node_contract import image_expectations, pool_expectations
from landbridge.plan.aws.pool import pool_args, region_pool_args
from landbridge.plan.network.endpoint_policy import endpoint_policy, endpoint_policy_args
from tests.unit.core.samples import changed, environment
from tests.unit.live.conftest import run
from tests.unit.rules.capacity.rows_actions import ACTIONS, HUB, KEY, entry
from tests.unit.rules.network.rows_other_regions import GOOD as OTHER_REGION
from tests.unit.rules.parts import pool

UNITS = {"landbridge-node-start", "landbridge-node-configured"}
CHANGES: dict[tuple[str | int, ...], Any] = {
    ACTIONS: {
        "node_start": [entry(arguments=["-v"], timeout=60)],
        "node_configured": [entry(HUB, "a/b.sh"), entry(region="us-west-2", kms_key=KEY, bucket="west"), entry()],
    },
    ("aws", "pools", 1): pool(),
    ("aws", "nat"): "single",
}


def pool_file(site: Environment, index: int = 0) -> dict[str, Any]:
    """Return the content of a pool's file on its nodes."""
    (file,) = json.loads(pool_args(site, site.aws.pools[index]).user_data().partition("\n")[2])["write_files"]
    return dict(json.loads(file["content"]))


def test_the_pools_file_has_the_scripts_in_order_and_a_pool_without_scripts_has_no_such_key() -> None:
    site = environment(CHANGES)
    actions = pool_file(site)["actions"]
    assert [(row["bucket"], row["key"], row["region"]) for row in actions["node_configured"]] == [
        (HUB, "a/b.sh", None),
        ("west", "setup.sh", "us-west-2"),
        ("acme-scripts", "setup.sh", None),
    ]
    (first,) = actions["node_start"]
    assert (first["arguments"], first["timeout"], first["sha256"]) == (["-v"], 60, "0" * 64)
    assert "actions" not in pool_file(site, 1) and "units" not in pool_file(site, 1)["verify"]


def test_nodes_in_another_region_find_the_bucket_in_the_environments_region() -> None:
    site = environment({**OTHER_REGION, **CHANGES})
    (args,) = region_pool_args(site, "us-east-2")
    assert args.actions == pool_args(site, site.aws.pools[0]).actions
    assert args.node_config["region"] == "us-east-1"


def test_objects_of_the_role_are_listed_once_with_the_class_or_the_key_of_their_bucket() -> None:
    rows = [(item.bucket, item.region, item.data_class, item.kms_key) for item in action_objects(environment(CHANGES))]
    assert rows == [
        ("acme-scripts", "us-east-1", None, None),
        (HUB, "us-east-1", "internal", None),
        ("west", "us-west-2", None, KEY),
    ]
    assert action_objects(environment()) == ()


@pytest.mark.parametrize(
    "name", ["test-internal-12345678901", "test-internal-1234567890123", "test-internal-x-123456789012"]
)
def test_only_a_name_with_an_account_is_a_bucket_of_the_hub(name: str) -> None:
    (item,) = action_objects(environment({ACTIONS: {"node_start": [entry(name)]}}))
    assert item.data_class is None


def test_an_image_of_before_is_refused_on_nodes_of_a_pool_with_scripts() -> None:
    site = environment(CHANGES)
    first, second = site.aws.pools
    assert set(pool_expectations(site, first)["units"]) >= UNITS
    assert "units" not in pool_expectations(site, second)
    assert set(image_expectations(site)["units"]) >= UNITS
    assert not set(image_expectations(environment())["units"]) & UNITS


def test_the_endpoint_of_s3_lets_the_scripts_of_any_account_pass() -> None:
    policy = json.loads(endpoint_policy(endpoint_policy_args(environment(CHANGES)), "s3", "123456789012"))
    (statement,) = [row for row in policy["Statement"] if row["Sid"] == "ScriptsOfPools"]
    assert statement["Action"] == ["s3:GetObject"] and "arn:aws:s3:::west/setup.sh" in statement["Resource"]
    assert statement["Condition"] == {"StringEquals": {"aws:PrincipalAccount": ["123456789012"]}}
    assert "ScriptsOfPools" not in endpoint_policy(endpoint_policy_args(environment(CHANGES)), "sts", "123456789012")
    assert "ScriptsOfPools" not in endpoint_policy(endpoint_policy_args(environment()), "s3", "123456789012")


def test_show_lists_the_scripts_of_a_pool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "Pulumi.test.yaml"
    path.write_text(changed(CHANGES))
    _, text, _ = run(capsys, "show", "--file", str(path))
    assert "node_start      s3://acme-scripts/setup.sh -v, 60 s at most, sha256 000000000000…\n" in text
    assert f"node_configured s3://{HUB}/a/b.sh, 300 s at most" in text
