"""Hard budgets as a limit in Slurm: the number of GPU minutes, the accounts that it binds, and the partitions with the
limit."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.environment import Environment
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.rates import worst_rate
from landbridge.plan.slurm.jobs.accounts import capped, limited, qualities
from landbridge.plan.slurm.jobs.gpu_minutes import EVERYWHERE, gpu_minute_limits
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import partition_lines
from tests.unit.core.samples import environment

POOL = ("aws", "pools", 0)
HARD = {"monthly_usd": 10_000, "hard": True}


def site(budget: dict[str, Any], changes: dict[Any, Any] | None = None) -> Environment:
    return environment({("budget",): budget, **(changes or {})})


def partition_qualities(chosen: Environment) -> dict[str, str]:
    """Return the quality of service of each partition that has one."""
    lines = partition_lines(chosen, (*onprem_nodes(chosen), *cloud_nodes(chosen)))
    words = [dict(word.split("=", 1) for word in line.split()) for line in lines]
    return {line["PartitionName"]: line["QOS"] for line in words if "QOS" in line}


def highest_rate(chosen: Environment) -> float:
    rates = [worst_rate(t, chosen) for pool in chosen.aws.pools for t in fallbacks(pool, chosen.region)]
    return max(rate for rate in rates if rate is not None)


@settings(deadline=None)
@given(usd=st.integers(1, 10**7))
def test_the_minutes_never_cost_more_than_the_budget(usd: int) -> None:
    chosen = site({"monthly_usd": usd, "hard": True})
    minutes = gpu_minute_limits(chosen)[EVERYWHERE]
    cost = highest_rate(chosen) / 8 / 60
    assert minutes * cost <= usd * (1 + 1e-9) < (minutes + 1) * cost * (1 + 1e-6)


def test_only_partitions_with_cloud_nodes_alone_have_the_limit() -> None:
    chosen = site(HARD)
    assert partition_qualities(chosen) == {"p5": EVERYWHERE}, (
        "partition gpu has nodes of both sites: its limit would count on-prem GPUs too"
    )
    partitions = {("scheduler", "partitions"): {"cloud": {"nodes": ["aws"]}, "both": {"nodes": ["onprem", "p5"]}}}
    assert partition_qualities(site(HARD, partitions)) == {"p5": EVERYWHERE, "cloud": EVERYWHERE}


@pytest.mark.parametrize(
    ("budget", "capped_at"),
    [
        ({"monthly_usd": 10_000}, None),
        ({"accounts": {"vision": HARD}}, 10_000),
        ({"accounts": {"vision": {"monthly_usd": 10_000}}}, None),
        ({"monthly_usd": 4_000, "hard": True, "accounts": {"vision": HARD}}, 4_000),
    ],
)
def test_a_budget_that_does_not_bind_every_account_is_no_limit(budget: dict[str, Any], capped_at: float | None) -> None:
    chosen = site(budget)
    expected = {} if capped_at is None else {EVERYWHERE: int(capped_at / (highest_rate(chosen) / 8 / 60))}
    assert gpu_minute_limits(chosen) == expected


def test_an_account_without_a_hard_budget_removes_the_limit_unless_its_data_stays_on_prem() -> None:
    accounts = {"vision": {"data_class": "internal"}, "clinic": {"data_class": "restricted"}}
    with_clinic = {("scheduler", "accounts"): accounts}
    assert gpu_minute_limits(site({"accounts": {"vision": HARD}}, with_clinic))
    with_language = {("scheduler", "accounts"): accounts | {"language": {"data_class": "internal"}}}
    assert gpu_minute_limits(site({"accounts": {"vision": HARD}}, with_language)) == {}


def test_the_budget_of_a_pool_limits_the_partitions_of_the_pool() -> None:
    chosen = site({**HARD, "pools": {"p5": 1000}})
    caps = gpu_minute_limits(chosen)
    assert caps["landbridge-p5"] < caps[EVERYWHERE]
    assert partition_qualities(chosen) == {"p5": "landbridge-p5"}
    above = gpu_minute_limits(site({**HARD, "pools": {"p5": 99_000}}))
    assert above["landbridge-p5"] == above[EVERYWHERE], "the budget of a pool never raises the limit of all"


def test_the_highest_price_of_a_pool_counts_and_an_unknown_price_gives_no_limit() -> None:
    spot = {(*POOL, "capacity"): [{"kind": "spot", "zones": ["use1-az4"], "max_price_usd": 10.0}]}
    both = {(*POOL, "capacity"): [*next(iter(spot.values())), {"kind": "on_demand", "zones": ["use1-az4"]}]}
    assert gpu_minute_limits(site(HARD, spot))[EVERYWHERE] > gpu_minute_limits(site(HARD, both))[EVERYWHERE]
    assert gpu_minute_limits(site(HARD, both)) == gpu_minute_limits(site(HARD))
    unknown = {
        (*POOL, "instance"): "p5en.48xlarge",
        (*POOL, "capacity"): [{"kind": "on_demand", "zones": ["aps1-az1"]}],
    }
    assert gpu_minute_limits(environment({("budget",): HARD, **unknown}, region="ap-south-1")) == {}
    with_price = {**unknown, ("burst",): {"prices": {"p5en.48xlarge": 80.0}}}
    assert gpu_minute_limits(environment({("budget",): HARD, **with_price}, region="ap-south-1"))[EVERYWHERE] == 60_000


def test_the_limit_is_a_quality_of_service_without_decay() -> None:
    chosen = site(HARD)
    quality = qualities(chosen)[EVERYWHERE]
    assert quality["grptresmins"] == f"gres/gpu={gpu_minute_limits(chosen)[EVERYWHERE]}"
    assert quality["flags"] == "NoDecay"
    assert capped(chosen) == [EVERYWHERE] and limited(chosen) == ["gres/gpu"]
    assert capped(environment({})) == [] and limited(environment({})) == []
