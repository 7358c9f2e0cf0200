"""Costs of the services in AWS; a service without a known price is not free."""

from typing import Any

import pytest

from landbridge.plan.cost import HOURS_PER_MONTH, Spend, spend
from tests.unit.core.samples import environment
from tests.unit.rules.aws.rows_cloud_services import with_services


def spent(**services: Any) -> Spend:
    return spend(environment(with_services(**services)))


def test_hosts_and_volumes_are_billed_whatever_runs() -> None:
    large = {"instance": "t3.large", "root_volume_gib": 30}
    found = {
        line.what: line for line in spent(controller={**large, "volume_gib": 40}, login={**large, "count": 2}).lines
    }
    controller, logins = found["controller, t3.large"], found["2 x login, t3.large"]
    assert controller.fixed_month == controller.usd_month == pytest.approx(0.0832 * HOURS_PER_MONTH)
    assert logins.usd_hour == pytest.approx(2 * 0.0832)
    assert found["130 GiB volumes of the services"].usd_month == pytest.approx(130 * 0.08)


def test_a_standby_costs_twice() -> None:
    (one,) = (line for line in spent().lines if "accounting database" in line.what)
    (both,) = (line for line in spent(database={"multi_az": True}).lines if "accounting database" in line.what)
    assert both.usd_month == pytest.approx(2 * one.usd_month)


def test_what_has_no_price_is_said() -> None:
    why = [item.why for item in spent(database={"instance": "db.x9.large"}).unpriced if "accounting" in item.what]
    assert why == ["no price known for db.x9.large in us-east-1"]


def test_a_site_of_ones_own_has_none_of_it() -> None:
    assert not [line.what for line in spend(environment({})).lines if "login" in line.what or "controller" in line.what]
