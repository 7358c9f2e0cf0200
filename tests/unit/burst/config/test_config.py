"""burst.json: complete parsing, and a report of every fault at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.config.config import BurstConfig, ConfigError, load, parse
from landbridge.burst.model import AccountPolicy, LaunchInterface, PromotionPolicy

SAMPLE = Path(__file__).parents[1] / "data" / "burst.json"


def raw() -> dict[str, Any]:
    return json.loads(SAMPLE.read_text())


def test_the_sample_is_read_whole() -> None:
    config = load(SAMPLE)
    policy = config.policy
    assert (policy.cluster, policy.region, policy.cost_center) == ("sandbox", "us-east-1", "4711")
    assert config.database == Path("/var/lib/landbridge/burst.db")
    assert (config.endpoint, config.metrics, config.snapshot_dir) == (None, "127.0.0.1:9810", None)
    assert policy.accounts["vision"] == AccountPolicy("vision", "internal", True, 20000.0, True)
    assert not policy.accounts["patients"].aws
    assert (policy.monthly_usd, policy.hard, policy.pool_monthly_usd) == (120000.0, False, {"p5": 90000.0})
    assert policy.promotions == (PromotionPolicy("gpu", ("p5",), 600.0),)
    assert policy.insufficient_capacity_seconds == (120.0, 1800.0)
    block, zone, spot = policy.pools["p5"].offerings
    assert (block.kind, block.market, block.size, block.closes) == ("capacity_block", "capacity-block", 8, 1795604800.0)
    assert zone.interfaces == (LaunchInterface(0, 0, "interface"), LaunchInterface(0, 1, "efa-only"))
    assert (spot.usd_hour, spot.max_price_usd) == (22.5, 30.0)
    pool = policy.pools["p5"]
    assert [node for node in ("p5-0", "p5-1", "p5-16", "p5-17", "p5-x", "dgx01") if pool.owns(node)] == [
        "p5-1",
        "p5-16",
    ]


def test_only_cluster_region_pools_and_accounts_are_required() -> None:
    config = parse({"cluster": "c", "region": "us-east-1", "pools": {}, "accounts": {}})
    assert config == BurstConfig(config.policy)
    assert (config.policy.lease_minutes, config.policy.launch_batch, config.policy.operators) == (30.0, 500, {"root"})


def _set(path: str, value: object) -> dict[str, Any]:
    settings = raw()
    at: Any = settings
    *parents, last = path.split("/")
    for word in parents:
        at = at[int(word)] if isinstance(at, list) else at[word]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return settings


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("cluster", None, "cluster: text is expected"),
        ("hards", True, "the file: 'hards' is not known"),
        ("lease_minutes", 0, "lease_minutes: a number above 0"),
        ("lease_minutes", "30", "lease_minutes: a number of 0 or more"),
        ("monthly_usd", -1, "monthly_usd: a number of 0 or more"),
        ("monthly_usd", float("nan"), "monthly_usd: a number of 0 or more"),
        ("hard", "yes", "hard: true or false"),
        ("launch_batch", 0, "launch_batch: a whole number of 1 or more"),
        ("insufficient_capacity_seconds", [5, 1], "insufficient_capacity_seconds: two numbers"),
        ("metrics", "9810", "metrics: '9810' is not host:port"),
        ("pools", [], "pools: an object is expected"),
        ("accounts", None, "accounts: an object is expected"),
        ("accounts/vision/aws", None, "accounts.vision.aws: true or false"),
        ("accounts/vision/monthly", 5, "accounts.vision: 'monthly' is not known"),
        ("pool_monthly_usd", {"p6": 1}, "pool_monthly_usd.p6: no pool has this name"),
        ("promotions/0/partitions", "p5", "promotions[0].partitions: a list of texts"),
        ("pools/p5/max_nodes", True, "pools.p5.max_nodes: a whole number"),
        ("pools/p5/offerings", [], "pools.p5.offerings: at least one"),
        ("pools/p5/offerings/1/market", "cheap", "pools.p5.offerings[1].market: 'cheap' is none of"),
        ("pools/p5/offerings/1/kind", "any", "pools.p5.offerings[1].kind: 'any' is none of"),
        ("pools/p5/offerings/1/key", "p5.48xlarge/use1-az4/spot", "two have the key 'p5.48xlarge/use1-az4/spot'"),
        ("pools/p5/offerings/1/subnet", None, "pools.p5.offerings[1].subnet: text is expected"),
        ("pools/p5/offerings/1/core_count", 96, "pools.p5.offerings[1].core_count: EC2 needs it together with threads_per_core"),
    ],
)  # fmt: skip
def test_a_fault_is_reported_with_its_path(path: str, value: object, fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(_set(path, value))
    assert fault in str(caught.value)


def test_all_configuration_faults_are_reported_at_once() -> None:
    wrong = _set("pools/p5/offerings/0/zone", None) | {"region": 7, "cost_centre": "4711"}
    with pytest.raises(ConfigError) as caught:
        parse(wrong)
    for part in ("pools.p5.offerings[0].zone", "region", "'cost_centre' is not known"):
        assert part in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "burst.json"
    for prepare, fault in (
        (lambda: None, "No such file"),
        (lambda: broken.write_text("{"), "line 1"),
        (lambda: broken.write_text("[]"), "an object"),
    ):
        prepare()
        with pytest.raises(ConfigError, match=fault) as caught:
            load(broken)
        assert str(caught.value).startswith(str(broken))
    monkeypatch.setenv("LANDBRIDGE_BURST_CONFIG", str(SAMPLE))
    assert load() == load(SAMPLE)
