"""Owned nodes for tests: the example of 21.85 USD, and any inputs."""

from hypothesis import strategies as st

from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.plan.cost.owned_node import Debt, NodeInputs
from tests.unit.core.samples import environment

_usd = st.floats(1000, 5e6)
_share = st.floats(0, 1)


def h100() -> NodeInputs:
    """Return the inputs of an owned 8 x H100 node with the catalogue's defaults."""
    (group,) = owned_groups(environment())
    assert group.inputs is not None
    return group.inputs


def debts() -> st.SearchStrategy[Debt]:
    """Return debts with a rate of up to 30 percent."""
    return st.builds(Debt, rate=st.floats(0, 0.3), years=st.floats(0.5, 10))


def nodes() -> st.SearchStrategy[NodeInputs]:
    """Return inputs in which any term may be missing."""
    return st.builds(
        NodeInputs,
        price_usd=_usd,
        years=st.floats(0.5, 10),
        purchase=st.just(True),
        residual_share=st.none() | st.floats(0, 0.5),
        debt=st.none() | debts(),
        network_share=st.none() | _share,
        maintenance_share=st.none() | st.floats(0, 0.3),
        idle_kw=st.floats(0, 5),
        load_kw=st.floats(5, 30),
        pue=st.floats(1, 2),
        usd_kwh=st.none() | st.floats(0.01, 1),
        space_usd_month=st.none() | st.floats(0, 1e4),
        storage_usd_month=st.none() | st.floats(0, 1e4),
        staff_per_node=st.floats(0, 1),
        staff_usd_year=st.none() | st.floats(0, 5e5),
    )
