"""Any file of published values gives findings or numbers, never an exception."""

import json
from math import isfinite
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from landbridge.economics.published.formulas import FORMULAS
from landbridge.economics.published.model_file import read_model
from landbridge.economics.published.quantities import UNITS
from landbridge.economics.published.recompute import disagreements, recompute
from landbridge.economics.published.terms import INPUTS, RESULTS

HEAD = {"title": "any", "source": "a page", "date": "2026-10-01"}
NUMBERS = st.sampled_from(["0", "0.5", "1", "3", "12", "100", "1,000", "250,141.80", "1000000"])


def quantity(dimensions: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Return texts of quantities with a unit of one of the dimensions."""
    units = [unit for unit, (dimension, _) in UNITS.items() if dimension in dimensions]
    return st.builds(lambda number, unit: f"{number} {unit}", NUMBERS, st.sampled_from(units))


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a row with a result and any inputs, mostly those that it needs."""
    computes = draw(st.sampled_from(sorted(RESULTS)))
    needed = {draw(st.sampled_from(group)) for group in RESULTS[computes].needs}
    names = needed | draw(st.sets(st.sampled_from(sorted(INPUTS)), max_size=8))
    inputs = {name: draw(quantity(INPUTS[name].dimensions)) for name in sorted(names)}
    printed = draw(quantity((RESULTS[computes].dimension,)))
    return {"name": "row", "computes": computes, "inputs": inputs, "printed": printed}


def test_every_result_has_a_formula() -> None:
    assert set(FORMULAS) == set(RESULTS)


@given(rows())
def test_a_row_gives_findings_or_finite_numbers(row: dict[str, Any]) -> None:
    model, findings = read_model(json.dumps({**HEAD, "rows": [row]}), "any.yaml")
    assert (model is None) == bool(findings)
    if model is None:
        return
    recomputed = recompute(model)
    assert all(item.recomputed is None or isfinite(item.recomputed) for item in recomputed)
    assert len(disagreements(model, recomputed)) == sum(not item.within_rounding for item in recomputed)


_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*HEAD, "rows", "inputs", "capex", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_data)
def test_any_data_gives_findings(data: Any) -> None:
    model, findings = read_model(json.dumps(data), "any.yaml")
    assert model is None and findings
    assert all(finding.line and finding.column for finding in findings)
