"""The formula of an owned node: terms, financing, and each term that can be switched off."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.plan.cost import spend
from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.plan.cost.owned_node import (
    Debt,
    NodeInputs,
    Term,
    breakeven_hours,
    interest,
    monthly_payment,
    onprem_node_hour,
    running_hour,
    upfront_usd,
)
from tests.unit.core.samples import environment
from tests.unit.economics.samples import debts, h100, nodes

#: Field of NodeInputs that switches a term off, and its value.
OFF: dict[Term, tuple[str, Any]] = {
    "purchase": ("purchase", False),
    "residual": ("residual_share", None),
    "financing": ("debt", None),
    "network": ("network_share", None),
    "maintenance": ("maintenance_share", None),
    "power": ("usd_kwh", None),
    "space": ("space_usd_month", None),
    "storage": ("storage_usd_month", None),
    "staff": ("staff_usd_year", None),
}
COSTS = ("onprem", "costs")


def test_the_example_of_the_reference_has_these_terms() -> None:
    terms = onprem_node_hour(h100()).terms
    assert terms["purchase"] == pytest.approx(250_141.8 / 26_280)
    assert terms["network"] == pytest.approx(250_141.8 * 0.15 / 26_280)
    assert terms["maintenance"] == pytest.approx(250_141.8 * 0.05 / 8760)
    assert terms["power"] == pytest.approx(10.2 * 1.4 * 0.12)
    assert terms["space"] == pytest.approx(1500 / 730)
    assert terms["staff"] == pytest.approx(50_000 / 8760)
    assert onprem_node_hour(h100()).usd == pytest.approx(21.85, abs=0.005)


@given(nodes(), st.floats(0, 1))
def test_switching_off_a_term_reduces_the_total_by_exactly_its_part(node: NodeInputs, utilisation: float) -> None:
    whole = onprem_node_hour(node, utilisation)
    for term, (field, value) in OFF.items():
        changes: dict[str, Any] = {field: value}
        without = onprem_node_hour(replace(node, **changes), utilisation)
        assert term not in without.terms
        assert without.usd == pytest.approx(whole.usd - whole.terms.get(term, 0.0), abs=1e-6)


@given(nodes(), st.floats(0, 1), st.floats(0, 1))
def test_the_cost_grows_with_the_utilisation_and_the_price_of_electricity(
    node: NodeInputs, first: float, second: float
) -> None:
    low, high = sorted((first, second))
    assert onprem_node_hour(node, low).usd <= onprem_node_hour(node, high).usd + 1e-9
    dearer = replace(node, usd_kwh=(node.usd_kwh or 0.0) + 0.1)
    assert onprem_node_hour(node, low).usd <= onprem_node_hour(dearer, low).usd + 1e-9


@given(nodes(), st.floats(1, 5))
def test_the_cost_grows_with_the_price_of_the_node(node: NodeInputs, factor: float) -> None:
    dearer = replace(node, price_usd=node.price_usd * factor)
    assert onprem_node_hour(node).usd <= onprem_node_hour(dearer).usd + 1e-6


@given(debts(), st.floats(1000, 1e7))
def test_an_annuity_repays_the_debt_with_its_interest(debt: Debt, principal: float) -> None:
    # Month by month: interest is added, the payment is subtracted, and nothing is left at the end.
    debt = replace(debt, years=round(debt.years * 12) / 12)
    rest, payment = principal, monthly_payment(principal, debt)
    for _ in range(round(debt.years * 12)):
        rest = rest * (1 + (debt.rate or 0.0) / 12) - payment
    assert rest == pytest.approx(0, abs=principal * 1e-6)
    assert interest(principal, debt) >= -1e-6 * principal


def test_a_debt_without_interest_and_a_stated_payment() -> None:
    assert interest(36_000, Debt(0.0, 3)) == pytest.approx(0)
    assert monthly_payment(36_000, Debt(None, 3, 1200)) == 1200
    assert interest(36_000, Debt(None, 3, 1200)) == pytest.approx(7200)


@given(nodes(), st.floats(0, 1), st.floats(0, 500))
def test_break_even_hours_satisfy_the_equality(node: NodeInputs, utilisation: float, cloud: float) -> None:
    upfront, running = upfront_usd(node), running_hour(node, utilisation)
    hours = breakeven_hours(upfront, cloud, running)
    if hours is None:
        assert cloud <= running
    else:
        assert upfront + running * hours == pytest.approx(cloud * hours, rel=1e-6)


def test_each_generation_of_nodes_has_its_own_price() -> None:
    old = {"hosts": "dgx[03-04]", "platform": "dgx-h100", "address": "10.20.1.21", "rack": "r1"}
    changes: Any = {
        ("onprem", "nodes", 1): old,
        (*COSTS, "nodes"): {"dgx[03-04]": {"purchase_usd": 100_000, "years": 5}},
    }
    first, second = owned_groups(environment(changes))
    assert first.inputs is not None and second.inputs is not None
    assert (first.inputs.price_usd, first.inputs.years) == (250_141.8, 3)
    assert (second.inputs.price_usd, second.inputs.years) == (100_000, 5)


def test_values_of_hosts_complete_those_of_their_platform() -> None:
    settings = {"dgx-h100": {"load_kw": 9.0, "purchase_usd": 200_000}, "dgx[01-02]": {"purchase_usd": 150_000}}
    (group,) = owned_groups(environment({(*COSTS, "nodes"): settings}))
    assert group.inputs is not None
    assert (group.inputs.price_usd, group.inputs.load_kw, group.inputs.idle_kw) == (150_000, 9.0, 9.0)


def test_the_bill_has_a_line_for_each_term_and_its_sum_is_the_formula() -> None:
    changes: Any = {
        (*COSTS, "residual_share"): 0.2,
        (*COSTS, "financing"): {"rate": 0.1},
        (*COSTS, "nodes"): {"dgx-h100": {"idle_kw": 3}},
    }
    (group,) = owned_groups(environment(changes))
    assert group.inputs is not None
    lines = [line for line in spend(environment(changes)).lines if line.description.startswith("dgx[01-02], ")]
    assert sum(line.usd_hour for line in lines) == pytest.approx(2 * onprem_node_hour(group.inputs).usd)
    assert sum(line.fixed_hour for line in lines) == pytest.approx(2 * onprem_node_hour(group.inputs, 0.0).usd)
    assert all(line.usd_hour > 0 and line.usd_month == pytest.approx(line.usd_hour * 730) for line in lines)
    power = next(line for line in lines if line.description.endswith("power"))
    assert power.fixed_hour == pytest.approx(power.usd_hour * 3 / 10.2)
    financing = next(line for line in lines if line.description.endswith("financing"))
    assert "onprem.costs" in financing.source


def test_the_bill_of_nodes_that_are_paid_still_has_their_resale() -> None:
    changes: Any = {COSTS: {"purchase": False, "residual_share": 0.2}}
    (group,) = owned_groups(environment(changes))
    assert group.inputs is not None
    lines = [line for line in spend(environment(changes)).lines if line.description.startswith("dgx[01-02], ")]
    assert {line.description for line in lines if line.usd_hour < 0} == {"dgx[01-02], residual"}
    assert sum(line.usd_hour for line in lines) == pytest.approx(2 * onprem_node_hour(group.inputs).usd)


def test_owned_nodes_without_a_price_are_unpriced_with_the_reason() -> None:
    total = spend(environment({("onprem", "nodes", 0, "platform"): "dgx-a100"}))
    (item,) = [item for item in total.unpriced if "owned" in item.description]
    assert "onprem.costs.nodes" in item.why
    assert not [line for line in total.lines if "dgx" in line.description]


@pytest.mark.parametrize(
    ("change", "term"),
    [
        ({"purchase": False}, "purchase"),
        ({"network_share": None}, "network"),
        ({"maintenance_share": None}, "maintenance"),
        ({"power": None}, "power"),
        ({"space_usd_month": None}, "space"),
        ({"staff": None}, "staff"),
    ],
)
def test_a_key_of_the_environment_switches_its_term_off(change: dict[str, Any], term: Term) -> None:
    whole = onprem_node_hour(h100())
    (group,) = owned_groups(environment({COSTS: change}))
    assert group.inputs is not None
    without = onprem_node_hour(group.inputs)
    assert whole.usd - without.usd == pytest.approx(whole.terms[term])
