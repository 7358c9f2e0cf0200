"""docs/how-to/compare-owning-and-renting.md: its commands print what it shows, with its costs in an environment file.

Prices of AWS change with the catalogue; only lines that follow from the page's own costs are compared.
"""

import re
import textwrap
from pathlib import Path

import pytest

from tests.unit.how_to.pages import ROOT, Step, run, steps

PAGE = ROOT / "docs" / "how-to" / "compare-owning-and-renting.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the environment `hybrid` and the page's costs in it."""
    match = re.search(r"<!-- costs -->\n```yaml\nonprem:\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    path = tmp_path_factory.mktemp("checkout")
    (path / "stacks").mkdir()
    text = (ROOT / "stacks" / "Pulumi.hybrid.yaml").read_text()
    costs = textwrap.indent(match[1], "    ")
    (path / "stacks" / "Pulumi.hybrid.yaml").write_text(text.replace("    onprem:\n", f"    onprem:\n{costs}", 1))
    return path


def output(name: str, folder: Path) -> tuple[Step, str]:
    """Run the page's command `name`; return its step and its output."""
    (step,) = [step for step in steps(PAGE) if step.command and f"cost {name}" in step.command]
    done = run(f"PYTHONPATH={ROOT} {step.command}", folder)
    assert done.returncode == 0, done.stdout
    return step, done.stdout


def test_the_total_cost_is_that_of_the_page(folder: Path) -> None:
    step, printed = output("tco", folder)
    assert printed.rstrip() == step.output.rstrip()


def test_the_break_even_follows_from_the_costs_of_the_page(folder: Path) -> None:
    step, printed = output("breakeven", folder)
    own_lines = [line for line in step.output.splitlines() if "node-hour" in line or "holds for renting" in line]
    assert len(own_lines) == 2
    assert set(own_lines) <= set(printed.splitlines())


def test_the_sensitivities_are_those_of_the_page(folder: Path) -> None:
    step, printed = output("compare", folder)
    shown, bars = (
        [line for line in text.splitlines() if re.match(r"[a-z_]+ +[\d.]", line) or line.startswith("owned ")]
        for text in (step.output, printed)
    )
    assert len(shown) > 20 and shown == bars


def test_it_is_found_from_the_index() -> None:
    assert "how-to/compare-owning-and-renting.md" in (ROOT / "docs" / "index.md").read_text()
