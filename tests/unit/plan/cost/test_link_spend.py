"""Costs of links between sites: each VPN, each attachment, the line's port, and items without a price."""

from typing import Any

import pytest

from landbridge.plan.cost import spend
from tests.unit.core.samples import environment
from tests.unit.rules.network.rows_link import SECOND, line

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
        (line(port="10g"), 0, 2, 2.25),
        (line(port="1g", encryption="vpn", line_vpn=INSIDE), 1, 3, 0.3),
        (line(port="100g", encryption="vpn", line_vpn=INSIDE, backup=BACKUP, sites=SITES), 4, 6, 22.5),
    ],
    ids=["a VPN", "three sites", "a line", "tunnels in a line", "everything"],
)
def test_the_link_is_billed_whatever_runs(changes: Any, vpns: int, attachments: int, port: float) -> None:
    lines = [one for one in spend(environment(changes)).lines if one.fixed_month and one.pool is None]
    found = sum(one.fixed_month for one in lines if any(word in one.what for word in ("VPN", "attachment", "Direct")))
    assert found == pytest.approx((0.05 * (vpns + attachments) + port) * HOURS)


def test_a_line_whose_port_nobody_wrote_has_no_price_and_says_so() -> None:
    found = spend(environment(line())).unpriced
    (one,) = (item for item in found if item.what.startswith("Direct Connect"))
    assert "bandwidth" in one.why


def test_what_leaves_aws_on_a_line_is_cheaper_than_what_leaves_by_the_internet() -> None:
    by_way = {
        name: next(one.why for one in spend(environment(changes)).unpriced if one.what == "traffic from AWS to on-prem")
        for name, changes in (("line", line()), ("vpn", {}))
    }
    assert "$0.02 to $0.04" in by_way["line"] and "$0.02" not in by_way["vpn"]
