"""A launch call's parameters: market, capacity, network and names."""

from dataclasses import replace

import pytest

from landbridge.burst.aws.launch_call import launch_call
from tests.unit.burst.launches import TAGS, attempt, offering

OFFERING = offering("subnet-1", "lt-1", "sg-1")


def test_markets_and_reservations_are_in_the_call() -> None:
    single = attempt("p5-1")
    spot = launch_call(single, replace(OFFERING, market="spot", max_price_usd=30.5), TAGS, True)
    options = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate", "MaxPrice": "30.5000"}
    assert spot["InstanceMarketOptions"] == {"MarketType": "spot", "SpotOptions": options}
    block = launch_call(single, replace(OFFERING, market="capacity-block", reservation="cr-1"), TAGS, True)
    assert block["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    target = block["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": "cr-1"}
    without_smt = launch_call(single, replace(OFFERING, core_count=96, threads_per_core=1), TAGS, True)
    assert without_smt["CpuOptions"] == {"CoreCount": 96, "ThreadsPerCore": 1}
    plain = launch_call(single, replace(OFFERING, placement_group="pg", interfaces=()), TAGS, False)
    assert "InstanceMarketOptions" not in plain and "NetworkInterfaces" not in plain
    assert "CpuOptions" not in plain
    assert (plain["Placement"], plain["SubnetId"], plain["MinCount"]) == ({"GroupName": "pg"}, OFFERING.subnet, 1)


def test_more_nodes_than_fit_a_tag_are_rejected() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        launch_call(attempt(*(f"p5-{number}" for number in range(1, 300, 2))), OFFERING, TAGS, True)
