"""Break-even of owned and rented nodes, the band of a published rule, and properties of both."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from landbridge.economics.breakeven import breakeven_months, breakeven_utilisation, paid_usd, surface
from landbridge.economics.cloud_rates import current_rates, dated_rates
from landbridge.economics.rule_band import rule_band
from landbridge.plan.cost.owned_node import NodeInputs, onprem_node_hour
from tests.unit.economics.samples import h100, nodes

RATES = st.floats(1, 500)
SHARES = st.floats(0.05, 1)


@pytest.mark.parametrize(
    ("cloud", "utilisation"),
    [(55.04, 0.40), (47.76, 0.46), (41.528, 0.53), (31.46, 0.69), (22, 0.99), (11, None), (13, None)],
)
def test_the_utilisation_of_the_reference_is_reproduced(cloud: float, utilisation: float | None) -> None:
    result = breakeven_utilisation(h100(), cloud)
    assert result is None if utilisation is None else result == pytest.approx(utilisation, abs=0.005)


def test_the_rule_of_60_to_70_percent_holds_for_a_band_of_prices_only() -> None:
    band = rule_band(h100(), 0.6, 0.7, dated_rates("p5.48xlarge", 8))
    assert band.low_usd_hour == pytest.approx(31.2, abs=0.05)
    assert band.high_usd_hour == pytest.approx(36.4, abs=0.05)
    verdicts = {(price.rate.name, price.rate.usd_hour): price.verdict for price in band.prices}
    assert verdicts["on demand", 55.04] == verdicts["Capacity Block", 47.76] == "below"
    assert verdicts["spot, lowest", 16.95] == "never" and verdicts["spot, lowest", 23.1] == "above"
    assert "holds" not in verdicts.values(), "no dated price of p5.48xlarge is inside the band"
    inside = rule_band(h100(), 0.6, 0.7, [replace(band.prices[0].rate, usd_hour=31.46)])
    assert inside.prices[0].verdict == "holds"


def test_prices_of_an_option_have_their_day_and_both_ends_of_a_range() -> None:
    rates = current_rates("p5.48xlarge", "us-east-1", 8)
    assert [(rate.name, rate.usd_hour) for rate in rates] == [
        ("on demand", 55.04),
        ("Capacity Block", 47.76),
        ("spot, lowest", 16.95),
        ("spot, highest", 55.04),
    ]
    assert all(rate.source and rate.as_of for rate in rates)
    (quarter, *_) = current_rates("p5.48xlarge", "us-east-1", 2)
    assert quarter.usd_hour == pytest.approx(55.04 / 4)


@given(nodes(), RATES)
def test_the_break_even_utilisation_satisfies_the_equality(node: NodeInputs, cloud: float) -> None:
    node = replace(node, residual_share=None)
    utilisation = breakeven_utilisation(node, cloud)
    if utilisation is None:
        assert onprem_node_hour(node, 1.0).usd >= cloud - 1e-6
    else:
        assert 0 <= utilisation <= 1
        assert onprem_node_hour(node, utilisation).usd == pytest.approx(cloud * utilisation, rel=1e-6)


@given(nodes(), RATES, SHARES)
def test_break_even_months_satisfy_the_equality(node: NodeInputs, cloud: float, utilisation: float) -> None:
    node = replace(node, residual_share=None)
    months = breakeven_months(node, cloud, utilisation)
    assume(months is not None and months > 0)
    assert months is not None
    assert paid_usd(node, months, utilisation) == pytest.approx(cloud * utilisation * 730 * months, rel=1e-6)


@given(nodes(), RATES, RATES, SHARES)
def test_a_higher_price_of_renting_breaks_even_earlier(
    node: NodeInputs, first: float, second: float, utilisation: float
) -> None:
    low, high = sorted((first, second))
    for result in (
        [breakeven_utilisation(node, cloud) for cloud in (low, high)],
        [breakeven_months(node, cloud, utilisation) for cloud in (low, high)],
    ):
        if result[0] is not None:
            assert result[1] is not None and result[1] <= result[0] + 1e-9


@given(nodes(), st.integers(1, 4), st.floats(0, 1))
def test_what_is_paid_after_whole_periods_of_use_is_the_cost_of_these_hours(
    node: NodeInputs, periods: int, utilisation: float
) -> None:
    months = node.years * 12 * periods
    expected = onprem_node_hour(node, utilisation).usd * 730 * months
    assert paid_usd(node, months, utilisation) == pytest.approx(expected, rel=1e-6, abs=1e-3)


@given(nodes(), st.floats(1, 120), st.floats(1, 120), st.floats(0, 1))
def test_more_is_paid_in_more_months(node: NodeInputs, first: float, second: float, utilisation: float) -> None:
    node = replace(node, residual_share=None)
    low, high = sorted((first, second))
    assert paid_usd(node, low, utilisation) <= paid_usd(node, high, utilisation) + 1e-6


def test_the_surface_changes_its_sign_at_the_break_even() -> None:
    node, rates = h100(), current_rates("p5.48xlarge", "us-east-1", 8)
    months = breakeven_months(node, 55.04, 0.8)
    assert months is not None
    before, after = (surface(node, rates[:1], [0.8], [count])[0] for count in (months - 0.1, months + 0.1))
    assert before.saving_usd < 0 < after.saving_usd
    cells = surface(node, rates, [0.2, 1.0], [12, 36])
    assert len(cells) == 4 * 2 * 2
    cell = next(c for c in cells if (c.rate.name, c.utilisation, c.months) == ("on demand", 1.0, 36))
    assert cell.saving_usd == pytest.approx((55.04 - onprem_node_hour(node).usd) * 26_280)
