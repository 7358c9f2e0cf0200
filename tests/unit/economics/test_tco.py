"""Total cost of ownership: sums, GPU-hours offered, used and finished, and the tornado of the inputs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog import onprem_costs
from landbridge.economics.comparison import comparisons, option_costs
from landbridge.economics.goodput import losses
from landbridge.economics.tco import Tco, tco
from landbridge.economics.tornado import tornado
from landbridge.environment import Goodput
from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.plan.cost.owned_node import onprem_node_hour
from tests.unit.core.samples import environment
from tests.unit.economics.samples import h100

GOODPUT = ("onprem", "costs", "goodput")


def total(months: float = 36, utilisation: float = 1.0, **settings: Any) -> Tco:
    return tco(environment({GOODPUT: settings} if settings else {}), months, utilisation)


def test_the_total_is_the_node_hour_over_all_hours() -> None:
    result = total()
    assert result.usd == pytest.approx(2 * 26_280 * onprem_node_hour(h100()).usd)
    assert (
        result.usd
        == pytest.approx(sum(part.usd for part in result.parts))
        == pytest.approx(sum(result.by_term().values()))
    )
    assert result.offered_gpu_hours == 16 * 26_280
    assert result.usd / result.offered_gpu_hours == pytest.approx(2.73, abs=0.005)


def test_a_month_is_not_an_hour() -> None:
    # A rate of an hour that is taken for one of a month is wrong by a factor of 730 (opencost #3781).
    assert total(months=1).usd == pytest.approx(onprem_node_hour(h100()).usd_month * 2)
    assert total(months=12).usd == pytest.approx(8760 * 2 * onprem_node_hour(h100()).usd)


def test_set_up_and_debugging_are_parts_of_the_total() -> None:
    result, plain = total(12, setup_usd=10_000, debugging_usd_month=500), total(12)
    assert result.by_term()["setup"] == 10_000 and result.by_term()["debugging"] == 6000
    assert result.usd == pytest.approx(plain.usd + 16_000)


@given(st.floats(1, 120), st.floats(1, 120), st.floats(0, 1), st.floats(0, 1))
def test_the_total_grows_with_months_and_utilisation(first: float, second: float, used: float, more: float) -> None:
    (short, long), (low, high) = sorted((first, second)), sorted((used, more))
    assert total(short, low).usd <= total(long, low).usd + 1e-6
    assert total(short, low).usd <= total(short, high).usd + 1e-6


def test_nothing_is_lost_without_failures_and_checkpoints() -> None:
    result = losses(Goodput(failures_per_1000_node_days=None))
    assert result.goodput == 1 and result.mtbf_minutes is None


def test_the_losses_of_a_job_by_hand() -> None:
    # 128 nodes fail 6.5 x 0.128 times a day: a failure each 1,730.8 minutes.
    settings = Goodput(checkpoint_minutes=2.0, checkpoint_every_minutes=60.0, restart_minutes=12.0, job_nodes=128)
    result = losses(settings)
    assert result.mtbf_minutes == pytest.approx(1000 * 1440 / (6.5 * 128))
    assert result.checkpoints == pytest.approx(2 / 60)
    assert result.rework == pytest.approx(30 / (1000 * 1440 / (6.5 * 128)))
    assert result.restarts == pytest.approx(12 / (1000 * 1440 / (6.5 * 128)))
    assert result.goodput == pytest.approx(1 - result.checkpoints - result.rework - result.restarts)


def test_the_mean_time_between_failures_of_metas_job_is_reproduced() -> None:
    # arXiv:2410.21680 prints 1.8 h for 16,384 GPUs, which are 2,048 nodes.
    assert losses(Goodput(job_nodes=2048)).mtbf_minutes == pytest.approx(1.803 * 60, rel=1e-3)


@given(st.floats(0.1, 30), st.integers(1, 5000), st.floats(1, 10_000))
def test_no_other_interval_loses_less_than_the_default(checkpoint: float, job_nodes: int, every: float) -> None:
    best = losses(Goodput(checkpoint_minutes=checkpoint, job_nodes=job_nodes))
    other = losses(Goodput(checkpoint_minutes=checkpoint, job_nodes=job_nodes, checkpoint_every_minutes=every))
    assert best.checkpoints + best.rework <= other.checkpoints + other.rework + 1e-9
    assert best.goodput >= other.goodput - 1e-9


def test_finished_gpu_hours_are_used_ones_less_the_losses() -> None:
    result = total(12, 0.5, checkpoint_minutes=3.0, job_nodes=2)
    assert result.used_gpu_hours == pytest.approx(result.offered_gpu_hours / 2)
    assert result.finished_gpu_hours == pytest.approx(result.used_gpu_hours * result.losses.goodput)
    assert 0 < result.finished_gpu_hours < result.used_gpu_hours
    useful = result.usd - result.goodput_expense
    assert useful / result.finished_gpu_hours == pytest.approx(result.usd / result.used_gpu_hours)


def test_the_tornado_is_sorted_and_each_bar_is_a_recomputation() -> None:
    (group,) = owned_groups(environment())
    bars = tornado(group, 0.8)
    assert [bar.effect for bar in bars] == sorted((bar.effect for bar in bars), reverse=True)
    by_name = {bar.name: bar for bar in bars}
    assert by_name.keys() >= {"purchase_usd", "years", "maintenance_share", "usd_kwh", "utilisation", "financing_rate"}
    maintenance = by_name["maintenance_share"]
    assert (maintenance.low, maintenance.base, maintenance.high) == (0.038, 0.05, 0.12)
    assert maintenance.usd_high - maintenance.usd_low == pytest.approx(250_141.8 * 0.082 / 8760 / 8 / 0.8)
    assert by_name["financing_rate"].base is None and by_name["financing_rate"].usd_low > maintenance.usd_base
    assert all(bar.usd_base == pytest.approx(onprem_node_hour(h100(), 0.8).usd / 8 / 0.8) for bar in bars)


def test_a_value_outside_the_published_range_extends_it() -> None:
    (group,) = owned_groups(environment({("onprem", "costs", "power"): {"usd_kwh": 0.5}}))
    bar = next(bar for bar in tornado(group, 0.8) if bar.name == "usd_kwh")
    assert (bar.low, bar.base, bar.high) == (0.06, 0.5, 0.5) and bar.usd_high == pytest.approx(bar.usd_base)


def test_owned_and_rented_options_are_for_the_same_used_hours() -> None:
    (comparison,) = comparisons(environment())
    owned, on_demand, *_ = option_costs(comparison, 36, 0.5, 0.9)
    assert comparison.instance == "p5.48xlarge" and owned.rate is None
    assert on_demand.usd == pytest.approx(2 * 26_280 * 0.5 * 55.04)
    assert on_demand.usd_used_gpu_hour == pytest.approx(55.04 / 8)
    assert on_demand.usd_finished_gpu_hour == pytest.approx(55.04 / 8 / 0.9)
    assert owned.usd_used_gpu_hour == pytest.approx(2 * onprem_node_hour(h100()).usd / 8)


def test_equal_groups_are_compared_once() -> None:
    second = {"hosts": "dgx[03-04]", "platform": "dgx-h100", "address": "10.20.1.21", "rack": "r2"}
    (comparison,) = comparisons(environment({("onprem", "nodes", 1): second}))
    assert comparison.nodes == 4 and comparison.hosts == ("dgx[01-02]", "dgx[03-04]")


def test_every_default_of_the_environment_is_the_catalogues() -> None:
    costs = environment().onprem.costs  # type: ignore[union-attr]
    assert costs.power is not None and costs.staff is not None
    values = {
        "years": costs.years,
        "network_share": costs.network_share,
        "maintenance_share": costs.maintenance_share,
        "pue": costs.power.pue,
        "usd_kwh": costs.power.usd_kwh,
        "space_usd_month": costs.space_usd_month,
        "staff_per_node": costs.staff.per_node,
        "staff_usd_year": costs.staff.usd_year,
        "restart_minutes": costs.goodput.restart_minutes,
    }
    assert values == {name: onprem_costs().inputs[name].base for name in values}
