"""Job cost: the published example, and no cost for an unknown price."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog import Price, price_of
from landbridge.findings import DataPath
from landbridge.plan.cost.job_cost import job_cost, node_hour_usd
from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.plan.cost.owned_node import onprem_node_hour
from tests.unit.core.samples import environment


def test_an_on_prem_h100_node_costs_as_in_the_reference() -> None:
    # 250,141.80 USD, 15 % for the network, three years, 5 % upkeep, 1,500 USD a month of space, 10.2 kW, a quarter of
    # an operator.
    (group,) = owned_groups(environment())
    assert group.inputs is not None
    assert onprem_node_hour(group.inputs).usd == pytest.approx(21.85, abs=0.005)


def test_jobs_are_priced_by_whole_nodes() -> None:
    cost = job_cost(environment(), "p5-[1-2]", 1800)
    assert cost.usd == pytest.approx(55.04)
    price = price_of("on_demand", "p5.48xlarge", "us-east-1")
    assert isinstance(price, Price)
    assert cost.basis == f"p5.48xlarge on demand at $55.04 an hour, prices of {price.as_of}"
    assert job_cost(environment(), ["dgx01"], 3600).usd == pytest.approx(21.85, abs=0.005)
    assert job_cost(environment(), [], 3600).usd == 0


@pytest.mark.parametrize(
    ("changes", "node", "basis"),
    [
        ({("onprem", "nodes", 0, "platform"): "dgx-a100"}, "dgx01", "no price known for dgx-a100"),
        ({("aws", "pools", 0, "instance"): "p5e.48xlarge"}, "p5-1", "no on demand price known"),
        ({("aws", "pools", 0, "capacity", 0): {"kind": "spot"}}, "p5-1", "spot"),
        ({}, "p5-5", "not a node of test"),
        ({}, "stranger", "not a node of test"),
    ],
)
def test_a_node_without_a_known_price_has_no_cost(changes: dict[DataPath, Any], node: str, basis: str) -> None:
    rate = node_hour_usd(environment(changes), node)
    assert rate.usd is None
    assert basis in rate.basis
    assert job_cost(environment(changes), ["dgx02", node], 60).usd is None


def test_a_capacity_block_has_its_own_price() -> None:
    block = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4"}
    assert node_hour_usd(environment({("aws", "pools", 0, "capacity", 0): block}), "p5-1").usd == 47.76


def test_idle_gpus_of_a_node_are_a_line_of_their_own() -> None:
    cost = job_cost(environment(), "p5-[1-2]", 3600, gpus={"p5-1": 2})
    assert [(line.description, line.idle) for line in cost.lines] == [("10 of 16 GPUs", False), ("6 idle GPUs", True)]
    assert [line.usd for line in cost.lines] == pytest.approx([55.04 * 1.25, 55.04 * 0.75])
    assert cost.usd == pytest.approx(sum(line.usd for line in cost.lines)), "whole nodes are billed"
    assert cost.idle_usd == pytest.approx(55.04 * 0.75)
    (whole,) = job_cost(environment(), "p5-[1-2]", 3600).lines
    assert whole.usd == pytest.approx(2 * 55.04) and not whole.idle


@given(st.integers(0, 12), st.integers(1, 100_000))
def test_the_share_of_the_gpus_and_the_idle_rest_are_the_whole_node(gpus: int, seconds: int) -> None:
    cost = job_cost(environment(), ["dgx01"], seconds, gpus={"dgx01": gpus})
    assert cost.usd is not None and cost.usd == pytest.approx(sum(line.usd for line in cost.lines))
    assert cost.idle_usd == pytest.approx(cost.usd * max(8 - gpus, 0) / 8)


def test_a_price_of_the_environment_counts_for_a_type_without_another_one() -> None:
    own_price: dict[DataPath, Any] = {
        ("aws", "pools", 0, "instance"): "p5e.48xlarge",
        ("burst",): {"prices": {"p5e.48xlarge": 61.5, "p5.48xlarge": 1.0}},
    }
    rate = node_hour_usd(environment(own_price), "p5-1")
    assert rate.usd == 61.5 and "burst.prices" in rate.basis
    listed = environment({("burst",): {"prices": {"p5.48xlarge": 1.0}}})
    assert node_hour_usd(listed, "p5-1").usd == 55.04, "a dated price is used first"
