"""Costs of links between sites: VPN connections, attachments, the port of Direct Connect, and items without a price."""

from typing import Any

import pytest

from landbridge.plan.cost import spend
from tests.unit.core.samples import environment
from tests.unit.rules.network.rows_link import SECOND, direct_connect

HOURS = 730
SITES = {
    "basel": SECOND,
    "bern": {**SECOND, "cidr": "10.40.0.0/16", "gateway": "gw3", "address": "10.40.0.1", "gateway_address": "4.4.4.5"},
}
BACKUP = {"gateway_address": "3.3.3.3"}
INSIDE = {"gateway_address": "10.20.0.1"}


@pytest.mark.parametrize(
    ("changes", "vpns", "attachments", "port"),
    [
        ({}, 1, 2, 0.0),
        ({("link", "sites"): SITES}, 3, 4, 0.0),
        (direct_connect(port="10g"), 0, 2, 2.25),
        (direct_connect(port="1g", encryption="vpn", line_vpn=INSIDE), 1, 3, 0.3),
        (direct_connect(port="100g", encryption="vpn", line_vpn=INSIDE, backup=BACKUP, sites=SITES), 4, 6, 22.5),
    ],
    ids=["a VPN", "three sites", "Direct Connect", "VPN over Direct Connect", "everything"],
)
def test_the_fixed_costs_of_a_link_are_billed_without_any_traffic(
    changes: Any, vpns: int, attachments: int, port: float
) -> None:
    lines = [item for item in spend(environment(changes)).lines if item.fixed_month and item.pool is None]
    fixed_month = sum(
        item.fixed_month for item in lines if any(word in item.description for word in ("VPN", "attachment", "Direct"))
    )
    assert fixed_month == pytest.approx((0.05 * (vpns + attachments) + port) * HOURS)


def test_a_direct_connect_without_a_port_speed_has_no_price() -> None:
    unpriced = spend(environment(direct_connect())).unpriced
    (unpriced_port,) = (item for item in unpriced if item.description.startswith("Direct Connect"))
    assert "bandwidth" in unpriced_port.why


def test_egress_over_direct_connect_is_cheaper_than_over_the_internet() -> None:
    reasons = {
        name: next(
            item.why
            for item in spend(environment(changes)).unpriced
            if item.description == "traffic from AWS to on-prem"
        )
        for name, changes in (("line", direct_connect()), ("vpn", {}))
    }
    assert "$0.02 to $0.04" in reasons["line"] and "$0.02" not in reasons["vpn"]
