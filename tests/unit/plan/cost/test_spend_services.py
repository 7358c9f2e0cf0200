"""Costs of the services in AWS; a service without a known price is unpriced, not free."""

from typing import Any

import pytest

from landbridge.plan.cost import HOURS_PER_MONTH, Spend, spend
from tests.unit.core.samples import environment
from tests.unit.rules.aws.rows_cloud_services import with_services


def spent(**services: Any) -> Spend:
    return spend(environment(with_services(**services)))


def test_hosts_and_volumes_are_a_fixed_cost() -> None:
    large = {"instance": "t3.large", "root_volume_gib": 30}
    by_item = {
        line.description: line
        for line in spent(controller={**large, "volume_gib": 40}, login={**large, "count": 2}).lines
    }
    controller, logins = by_item["controller, t3.large"], by_item["2 x login, t3.large"]
    assert controller.fixed_month == controller.usd_month == pytest.approx(0.0832 * HOURS_PER_MONTH)
    assert logins.usd_hour == pytest.approx(2 * 0.0832)
    assert by_item["130 GiB volumes of the services"].usd_month == pytest.approx(130 * 0.08)


def test_a_database_with_a_standby_costs_twice() -> None:
    (single,) = (line for line in spent().lines if "accounting database" in line.description)
    (both,) = (line for line in spent(database={"multi_az": True}).lines if "accounting database" in line.description)
    assert both.usd_month == pytest.approx(2 * single.usd_month)


def test_a_database_without_a_known_price_is_listed_as_unpriced() -> None:
    reasons = [
        item.why for item in spent(database={"instance": "db.x9.large"}).unpriced if "accounting" in item.description
    ]
    assert reasons == ["no price known for db.x9.large in us-east-1"]


def test_an_environment_with_on_prem_services_has_no_cost_for_services_in_aws() -> None:
    assert not [
        line.description
        for line in spend(environment({})).lines
        if "login" in line.description or "controller" in line.description
    ]
