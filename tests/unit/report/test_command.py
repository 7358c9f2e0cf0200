"""`landbridge report`: its page has the figures of the commands, for every environment and with a trace."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from landbridge.catalog.hardware.onprem_costs import default_cost
from landbridge.cli.main import build
from landbridge.economics.comparison import comparisons, option_costs
from landbridge.economics.goodput import losses
from landbridge.environment import Goodput
from landbridge.plan.cost import spend
from landbridge.report.history import largest_values
from landbridge.trace import Demand, demand_of, read
from tests.unit.core.samples import ROOT, shipped
from tests.unit.report.test_page import tree
from tests.unit.simulation.queues import TRACE

NAMES = sorted(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build(), ["report", *arguments], catch_exceptions=False)


def report(tmp_path: Path, name: str, *options: str) -> ElementTree.Element:
    """Return the page that the command writes for a shipped environment."""
    out = tmp_path / "report.html"
    done = run("--file", str(ROOT / "stacks" / f"Pulumi.{name}.yaml"), "--out", str(out), *options)
    assert done.exit_code == 0 and f"wrote {out}" in done.output, done.output
    assert list(tmp_path.iterdir()) == [out]
    return tree(out.read_text(encoding="utf-8"))


def rows(page: ElementTree.Element, caption: str) -> dict[str, list[str]]:
    """Return the values of a table by the heading of their row."""
    table = next(table for table in page.iter("table") if caption in (table.find("caption").text or ""))  # type: ignore[union-attr]
    return {
        row.find("th").text or "": [cell.text or "" for cell in row.findall("td") if cell.get("class") != "bar"]  # type: ignore[union-attr]
        for row in table.findall("./tbody/tr")
    }


def keys(page: ElementTree.Element) -> list[str]:
    return [section.get("id", "") for section in page.iter("section")]


@pytest.mark.parametrize("name", NAMES)
def test_every_environment_has_a_report_with_the_sum_of_its_bill(tmp_path: Path, name: str) -> None:
    page, bill = report(tmp_path, name), spend(shipped(name))
    assert rows(page, "By line")["all"] == [f"{bill.usd_month:,.0f}", f"{bill.fixed_month:,.0f}"]
    text = "".join(page.find(".//section[@id='bill']").itertext())  # type: ignore[union-attr]
    assert ("at least" in text) is any(item.reason == "no_price" for item in bill.unpriced)
    assert keys(page)[:2] == ["bill", "owned"]


def test_owning_and_renting_are_those_of_cost_compare(tmp_path: Path) -> None:
    page = report(tmp_path, "hybrid", "--months", "24", "--utilisation", "0.5")
    (comparison,) = comparisons(shipped("hybrid"))
    options = option_costs(comparison, 24, 0.5, losses(Goodput()).goodput)
    assert {name: values[0] for name, values in rows(page, "24 months").items()} == {
        option.name: f"{option.usd:,.0f}" for option in options
    }
    assert keys(page) == ["bill", "owned", "break-even", "sensitivity"]
    grids = [table for table in page.iter("table") if table.get("class") == "grid"]
    assert len(grids) == len({rate.usd_hour for rate in comparison.rates})


def test_a_site_without_machines_is_not_compared(tmp_path: Path) -> None:
    page = report(tmp_path, "startup")
    assert keys(page) == ["bill", "owned"] and "no owned node" in "".join(page.itertext())


def test_a_trace_adds_demand_mix_and_waits(tmp_path: Path) -> None:
    page, demand = report(tmp_path, "hybrid", "--trace", str(TRACE)), demand_of(read(TRACE).jobs)
    assert keys(page)[-3:] == ["demand", "waits", "assumptions"]
    label = page.find(".//svg").get("aria-label", "")  # type: ignore[union-attr]
    assert f"Largest value {demand.peak:,} GPUs" in label and f"mean: {demand.mean:,.0f}" in label
    mixes = rows(page, "USD for the period")
    usd = {name: int(values[0].replace(",", "")) for name, values in mixes.items()}
    assert min(usd, key=lambda name: usd[name]) == "cheapest mix" and "all on demand" in usd
    spent = rows(page, "Spending in AWS by account")
    total = int(spent.pop("all")[0].replace(",", ""))
    assert sum(int(values[0].replace(",", "")) for values in spent.values()) == pytest.approx(total, abs=len(spent))


def test_a_trace_that_cannot_be_read_has_findings_and_no_page(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("timestamp,duration,num_gpus\n2017-10-30 00:10:26,-5,1\n")
    file, out = ROOT / "stacks" / "Pulumi.hybrid.yaml", tmp_path / "report.html"
    done = run("--file", str(file), "--trace", str(tmp_path / "bad.csv"), "--out", str(out))
    assert done.exit_code == 1 and "bad.csv:2: error: duration" in done.output, done.output
    assert not out.exists()


def test_the_default_utilisation_is_the_catalogue_s(tmp_path: Path) -> None:
    text = "".join(report(tmp_path, "hybrid").itertext())
    assert f"at {default_cost('utilisation'):.0%} utilisation" in text


STEPS = st.lists(st.tuples(st.floats(0.1, 1e5), st.integers(0, 500)), min_size=1, max_size=30)


@given(STEPS, st.integers(1, 50))
def test_the_largest_values_of_parts_keep_the_peak(steps: list[tuple[float, int]], parts: int) -> None:
    times = [0.0]
    for seconds, _ in steps:
        times.append(times[-1] + seconds)
    demand = Demand(tuple(times), tuple(gpus for _, gpus in steps))
    values = largest_values(demand, parts)
    assert len(values) == parts and max(values) == demand.peak
    assert sum(values) / parts >= demand.mean * (1 - 1e-9)
