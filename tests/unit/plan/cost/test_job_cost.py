"""Job cost: the published example, and no cost for an unknown price."""

from typing import Any

import pytest

from landbridge.catalog import Price, price_of, prices
from landbridge.findings import DataPath
from landbridge.plan.cost.job_cost import job_cost, node_hour_usd, onprem_node_hour
from tests.unit.core.samples import environment


def test_an_on_prem_h100_node_costs_as_in_the_reference() -> None:
    # 250,141.80 USD, 15 % for the network, three years, 5 % upkeep, 1,500 USD a month of space, 10.2 kW, a quarter of
    # an operator.
    assert onprem_node_hour(250_141.8, 10.2, prices().onprem) == pytest.approx(21.85, abs=0.005)


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
        ({}, "p5-5", "no node of test"),
        ({}, "stranger", "no node of test"),
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
