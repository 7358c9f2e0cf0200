"""Published comparisons of owned and rented GPUs: their printed figures follow from the formulas of owned nodes."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from landbridge.economics.breakeven import breakeven_months, breakeven_utilisation, paid_usd
from landbridge.plan.cost.owned_node import (
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    NodeInputs,
    breakeven_hours,
    onprem_node_hour,
    running_hour,
    upfront_usd,
)

COMPARISONS = yaml.safe_load(Path(__file__).with_name("published_figures.yaml").read_text())
#: Share of the rounding unit by which a value may be below and above its printed, rounded form.
ROUNDED = {"nearest": (0.5, 0.5), "down": (0.0, 1.0)}
FIGURES = [(comparison, row) for comparison in COMPARISONS for row in comparison["figures"]]


def figure(comparison: dict[str, Any], row: dict[str, Any]) -> float | None:
    """Return a figure of a row, in the unit in which the source prints it."""
    fields = {**comparison["node"], **row.get("node", {})}
    if "opex_usd_hour" in row:
        fields["space_usd_month"] = row["opex_usd_hour"] * HOURS_PER_YEAR / MONTHS_PER_YEAR
    node, cloud = NodeInputs(**fields), row.get("cloud_usd_hour", 0.0)
    paid = paid_usd(node, node.years * MONTHS_PER_YEAR, 1.0)
    match row["figure"]:
        case "running_hour":
            return running_hour(node)
        case "node_hour":
            return onprem_node_hour(node).usd
        case "node_month":
            return onprem_node_hour(node).usd_month
        case "paid":
            return paid
        case "saving":
            return float(cloud * node.years * HOURS_PER_YEAR - paid)
        case "breakeven_hours":
            return breakeven_hours(upfront_usd(node), cloud, running_hour(node))
        case "breakeven_months":
            return breakeven_months(node, cloud, 1.0)
        case "breakeven_hours_a_day":
            used = breakeven_utilisation(node, cloud)
            return None if used is None else used * 24
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize(
    ("comparison", "row"),
    FIGURES,
    ids=[f"{each['source'][:48]}: {row['figure']} {row['printed']}" for each, row in FIGURES],
)
def test_a_printed_figure_follows_from_its_inputs(comparison: dict[str, Any], row: dict[str, Any]) -> None:
    value = figure(comparison, row)
    assert value is not None
    low, high = ROUNDED[row.get("rounded", "nearest")]
    slack = row["to"] * 1e-6
    agrees = row["printed"] - low * row["to"] - slack <= value <= row["printed"] + high * row["to"] + slack
    if "recomputed" in row:
        assert value == pytest.approx(row["recomputed"], rel=1e-5) and not agrees
    else:
        assert agrees, value
