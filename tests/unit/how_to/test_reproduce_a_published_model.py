"""docs/how-to/reproduce-a-published-model.md: its files give the output that it shows, and its tables are those of the code."""

import re
import shlex
from pathlib import Path

from landbridge.economics.published.quantities import UNITS
from landbridge.economics.published.terms import INPUTS, RESULTS
from tests.unit.core.test_cli import run
from tests.unit.how_to.pages import ROOT, steps, write

PAGE = ROOT / "docs" / "how-to" / "reproduce-a-published-model.md"


def test_the_files_of_the_page_give_the_output_that_it_shows(tmp_path: Path) -> None:
    page_steps = list(steps(PAGE))
    for step in page_steps:
        if step.file is not None:
            write(step, tmp_path)
    commands = [step for step in page_steps if step.command is not None]
    assert len(commands) == 2
    for step in commands:
        program, *arguments = shlex.split(step.command or "")
        assert program == "landbridge"
        completed = run(*arguments[:-1], str(tmp_path / arguments[-1]))
        assert completed.returncode == 0, completed.stderr
        assert completed.stdout.rstrip() == step.output.rstrip()


def units(dimensions: tuple[str, ...]) -> str:
    """Return the units of dimensions, as the page lists them."""
    return ", ".join(unit for unit, (dimension, _) in UNITS.items() if dimension in dimensions)


def test_the_tables_of_the_page_are_those_of_the_code() -> None:
    text = PAGE.read_text()
    terms, results = (
        re.search(rf"<!-- {name} -->\n(?:\|.*\n){{2}}((?:\|.*\n)*)<!-- end of {name} -->", text)
        for name in ("terms", "results")
    )
    assert terms is not None and results is not None
    assert terms[1] == "".join(
        f"| `{name}`{'*' if term.parts else ''} | {units(term.dimensions)} | {term.description} |\n"
        for name, term in INPUTS.items()
    )
    assert results[1] == "".join(
        f"| `{name}` | {units((shape.dimension,))} | "
        f"{', '.join(' or '.join(group) for group in shape.needs) or 'at least one cost'} | {shape.description} |\n"
        for name, shape in RESULTS.items()
    )
