"""docs/how-to/keep-prices-current.md and show-the-cost-of-a-change.md, followed literally."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.live.prices import NEEDS
from sandbox.aws_emulator.process import EmulatorProcess, running
from tests.unit.how_to.pages import ROOT, run, steps

PRICES, CHANGE = ROOT / "docs/how-to/keep-prices-current.md", ROOT / "docs/how-to/show-the-cost-of-a-change.md"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", "--boot-delay", "0") as emulator:
        emulator.control(
            products={"p5.48xlarge/us-east-1": 55.04, "g6e.12xlarge/us-east-1": 10.49264},
            spot={"p5.48xlarge/*": 16.5, "g6e.12xlarge/*": 4.5},
            savings_plans={"p5.48xlarge/us-east-1": {"Compute/1/No Upfront": 40.0}},
            block_usd={"p5.48xlarge": 47.76},
        )
        yield emulator


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a git checkout with an environment called acme."""
    (tmp_path / "stacks").mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    shutil.copy(ROOT / "stacks" / "Pulumi.example.yaml", tmp_path / "stacks" / "Pulumi.acme.yaml")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Add acme"]):
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)
    return tmp_path


def follow(page: Path, folder: Path, before: str = "") -> int:
    """Run a page's commands; each must succeed and print the lines of the page. Return their number."""
    count = 0
    for step in steps(page):
        if step.command is not None:
            done = run(f"export PYTHONPATH={ROOT} {before}; {step.command}", folder)
            assert done.returncode == 0, f"{step.command}\n{done.stdout}"
            assert done.stdout.startswith(step.output.strip("\n")), f"{step.command}\n{done.stdout}"
            count += 1
    return count


def test_prices_are_kept_current_as_it_is_written(folder: Path, cloud: EmulatorProcess) -> None:
    variables = " ".join(f"{name}={value}" for name, value in cloud.environment().items())
    assert follow(PRICES, folder, variables) == 4
    book = (folder / "stacks" / "prices.acme.yaml").read_text()
    assert "p5.48xlarge:compute:1y:no_upfront: 40.0" in book and "g6e.12xlarge: 10.49264" in book
    assert all(f"`{action}`" in PRICES.read_text() for action in NEEDS)


def test_the_findings_of_the_page_are_those_of_the_checks() -> None:
    modules = (ROOT / "landbridge" / "plan" / "price_book").glob("*.py")
    rules = {
        word.strip('"(,')
        for module in modules
        for word in module.read_text().split()
        if word.startswith(('"price-', 'Finding("price-'))
    }
    named = {rule.removeprefix("Finding(").strip('"') for rule in rules}
    assert len(named) == 8
    assert {rule for rule in named if f"`{rule}`" not in PRICES.read_text()} == set()


def test_the_cost_of_a_change_is_shown_as_it_is_written(folder: Path) -> None:
    assert follow(CHANGE, folder) == 4
    assert json.loads((folder / "cost.json").read_text())["complete"] is True
    assert "<details>" in (folder / "comment.md").read_text()
