"""Hard budgets as Slurm's own limit: how many GPU minutes, of whom, and which queues carry it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.environment import Environment
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.rates import worst_rate
from landbridge.plan.slurm.accounts import capped, limited, qualities
from landbridge.plan.slurm.gpu_minutes import EVERYWHERE, gpu_minute_limits
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import partition_lines
from tests.unit.core.samples import environment

POOL = ("aws", "pools", 0)
HARD = {"monthly_usd": 10_000, "hard": True}


def site(budget: dict[str, Any], changes: dict[Any, Any] | None = None) -> Environment:
    return environment({("budget",): budget, **(changes or {})})


def queues(found: Environment) -> dict[str, str]:
    """The quality of service of each queue that has one."""
    lines = partition_lines(found, (*onprem_nodes(found), *cloud_nodes(found)))
    words = [dict(word.split("=", 1) for word in line.split()) for line in lines]
    return {one["PartitionName"]: one["QOS"] for one in words if "QOS" in one}


def dearest(found: Environment) -> float:
    rates = [worst_rate(t, found) for pool in found.aws.pools for t in fallbacks(pool, found.region)]
    return max(rate for rate in rates if rate is not None)


@settings(deadline=None)
@given(usd=st.integers(1, 10**7))
def test_the_minutes_never_cost_more_than_the_budget(usd: int) -> None:
    found = site({"monthly_usd": usd, "hard": True})
    minutes = gpu_minute_limits(found)[EVERYWHERE]
    cost = dearest(found) / 8 / 60
    assert minutes * cost <= usd * (1 + 1e-9) < (minutes + 1) * cost * (1 + 1e-6)


def test_only_queues_that_are_in_aws_alone_carry_it() -> None:
    found = site(HARD)
    assert queues(found) == {"p5": EVERYWHERE}, "gpu is over both sites: its limit would count the site's GPUs too"
    own = {("scheduler", "partitions"): {"cloud": {"nodes": ["aws"]}, "both": {"nodes": ["onprem", "p5"]}}}
    assert queues(site(HARD, own)) == {"p5": EVERYWHERE, "cloud": EVERYWHERE}


@pytest.mark.parametrize(
    ("budget", "capped_at"),
    [
        ({"monthly_usd": 10_000}, None),
        ({"accounts": {"vision": HARD}}, 10_000),
        ({"accounts": {"vision": {"monthly_usd": 10_000}}}, None),
        ({"monthly_usd": 4_000, "hard": True, "accounts": {"vision": HARD}}, 4_000),
    ],
)
def test_a_budget_that_does_not_bind_everybody_is_no_cap(budget: dict[str, Any], capped_at: float | None) -> None:
    found = site(budget)
    expected = {} if capped_at is None else {EVERYWHERE: int(capped_at / (dearest(found) / 8 / 60))}
    assert gpu_minute_limits(found) == expected


def test_an_account_without_a_hard_budget_frees_all_and_one_that_stays_on_site_does_not_count() -> None:
    accounts = {"vision": {"data_class": "internal"}, "clinic": {"data_class": "restricted"}}
    mine = {("scheduler", "accounts"): accounts}
    assert gpu_minute_limits(site({"accounts": {"vision": HARD}}, mine))
    more = {("scheduler", "accounts"): accounts | {"language": {"data_class": "internal"}}}
    assert gpu_minute_limits(site({"accounts": {"vision": HARD}}, more)) == {}


def test_a_pools_own_budget_is_its_own_queues() -> None:
    found = site({**HARD, "pools": {"p5": 1000}})
    caps = gpu_minute_limits(found)
    assert caps["landbridge-p5"] < caps[EVERYWHERE]
    assert queues(found) == {"p5": "landbridge-p5"}
    above = gpu_minute_limits(site({**HARD, "pools": {"p5": 99_000}}))
    assert above["landbridge-p5"] == above[EVERYWHERE], "a pool's own budget never widens the whole"


def test_dearer_capacity_of_a_pool_counts_and_unknown_prices_do_not_guess() -> None:
    spot = {(*POOL, "capacity"): [{"kind": "spot", "zones": ["use1-az4"], "max_price_usd": 10.0}]}
    both = {(*POOL, "capacity"): [*next(iter(spot.values())), {"kind": "on_demand", "zones": ["use1-az4"]}]}
    assert gpu_minute_limits(site(HARD, spot))[EVERYWHERE] > gpu_minute_limits(site(HARD, both))[EVERYWHERE]
    assert gpu_minute_limits(site(HARD, both)) == gpu_minute_limits(site(HARD))
    unknown = {
        (*POOL, "instance"): "p5en.48xlarge",
        (*POOL, "capacity"): [{"kind": "on_demand", "zones": ["aps1-az1"]}],
    }
    assert gpu_minute_limits(environment({("budget",): HARD, **unknown}, region="ap-south-1")) == {}
    told = {**unknown, ("burst",): {"prices": {"p5en.48xlarge": 80.0}}}
    assert gpu_minute_limits(environment({("budget",): HARD, **told}, region="ap-south-1"))[EVERYWHERE] == 60_000


def test_slurm_is_told_the_limit_before_and_after_and_forgets_nothing_by_itself() -> None:
    found = site(HARD)
    quality = qualities(found)[EVERYWHERE]
    assert quality["grptresmins"] == f"gres/gpu={gpu_minute_limits(found)[EVERYWHERE]}"
    assert quality["flags"] == "NoDecay"
    assert capped(found) == [EVERYWHERE] and limited(found) == ["gres/gpu"]
    assert capped(environment({})) == [] and limited(environment({})) == []
