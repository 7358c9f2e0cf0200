"""Cost of a change: empty for equal bills, opposite for exchanged ones, and a sum that is the difference of the totals."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from landbridge.cli.main import build
from landbridge.findings import DataPath
from landbridge.plan.cost import CostChange, cost_change, spend
from tests.unit.core.samples import changed, environment, shipped
from tests.unit.plan.estates import bodies, built

BLOCK = {
    "kind": "capacity_block",
    "reservation": "cr-0123456789abcdef0",
    "zone": "use1-az4",
    "count": 4,
    "starts": "2027-01-04T11:30:00Z",
    "ends": "2027-01-11T11:30:00Z",
}
#: A pool of a type without a known price.
UNKNOWN: dict[DataPath, Any] = {
    ("aws", "pools", 0, "instance"): "g7e.12xlarge",
    ("aws", "pools", 0, "capacity", 0, "zones"): ["use1-az6"],
}
LARGER: dict[DataPath, Any] = {("aws", "pools", 0, "max_nodes"): 6}


def change(changes: dict[DataPath, Any]) -> CostChange:
    return cost_change(spend(environment()), spend(environment(changes)))


@given(bodies(), bodies())
def test_a_difference_is_antisymmetric_and_its_lines_add_up(first: dict[str, Any], second: dict[str, Any]) -> None:
    before, after = spend(built(first)), spend(built(second))
    forth, back = cost_change(before, after), cost_change(after, before)
    for field in ("usd_hour", "usd_month", "fixed_month"):
        assert getattr(forth, field) == pytest.approx(getattr(after, field) - getattr(before, field), abs=1e-6)
        opposite = [-getattr(line, field) for line in back.lines]
        assert [getattr(line, field) for line in forth.lines] == pytest.approx(opposite, abs=1e-9)
    kinds = {"added": "removed", "removed": "added", "changed": "changed"}
    assert [line.kind for line in forth.lines] == [kinds[line.kind] for line in back.lines]
    assert forth.unpriced_added == back.unpriced_removed
    assert cost_change(after, after).is_empty


def test_no_line_is_there_twice_for_the_shipped_environments() -> None:
    for name in ("example", "hybrid", "frontier"):
        empty = cost_change(spend(shipped(name)), spend(shipped("sandbox")))
        assert len(empty.lines) == len({(line.line.pool, line.line.description) for line in empty.lines}), name


def test_more_nodes_change_a_line_and_add_none() -> None:
    instances, disks = sorted(change(LARGER).lines, key=lambda line: -line.usd_month)
    assert (instances.kind, disks.kind) == ("changed", "changed")
    assert instances.usd_month == pytest.approx(2 * 55.04 * 730) and instances.fixed_month == 0


def test_the_prepayment_of_a_capacity_block_is_in_the_difference() -> None:
    bought = change({("aws", "pools", 0, "capacity"): [BLOCK], ("aws", "pools", 0, "min_nodes"): 4})
    assert bought.usd_whole == pytest.approx(4 * 47.76 * 7 * 24)
    kinds = {line.line.description: line.kind for line in bought.lines if line.line.pool}
    assert kinds["4 x p5.48xlarge, capacity block"] == "added"
    assert kinds["4 x p5.48xlarge, on demand"] == "removed"


def test_an_unknown_price_makes_the_difference_incomplete() -> None:
    unknown = change(UNKNOWN)
    assert [item.description for item in unknown.without_price] == ["4 x g7e.12xlarge, on demand"]
    assert unknown.usd_month < 0, "the old line is gone, and the new one has no amount"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a git repository whose first commit has the environment, with more nodes in the working tree."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Add nothing")
    file = tmp_path / "stacks" / "Pulumi.test.yaml"
    file.write_text(changed({}))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "Add the environment")
    file.write_text(changed(LARGER))
    return tmp_path


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `landbridge cost diff -s test` in the repository: exit status, output and errors."""
    monkeypatch.chdir(project)

    def run_diff(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            build()(["cost", "diff", "-s", "test", *arguments])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run_diff


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_the_base_is_a_revision_or_a_file(project: Path, run: Run) -> None:
    status, out, _ = run("--format", "json")
    data = json.loads(out)
    assert status == 0 and data["base"] == "HEAD:Pulumi.test.yaml"
    assert data["usd_month"] == pytest.approx(sum(line["usd_month"] for line in data["lines"]))
    assert data["usd_month"] == pytest.approx(data["after"]["usd_month"] - data["before"]["usd_month"])
    (project / "old.yaml").write_text(changed({}))
    assert json.loads(run("--base", "old.yaml", "--format", "json")[1])["lines"] == data["lines"]
    new = json.loads(run("--base", "HEAD~1", "--format", "json")[1])
    assert {line["change"] for line in new["lines"]} == {"added"} and new["before"]["usd_month"] == 0
    status, _, errors = run("--base", "nowhere")
    assert status == 2 and "neither a file nor a git revision" in errors
    assert run("--base", "--output=x")[0] == 2, "an option of git is no revision"
    assert not (project / "stacks" / "x").exists()


def test_text_and_comment_have_the_lines_and_the_sums(project: Path, run: Run) -> None:
    assert "~ p5: 4 x p5.48xlarge, on demand -> 6 x p5.48xlarge, on demand" in run()[1]
    _, comment, _ = run("--format", "comment")
    assert comment == run("--format", "comment")[1]
    for part in ("**Cost of `test`**: +80,4", "<details><summary>2 lines", "</details>", "| changed | p5: 4 x"):
        assert part in comment
    (project / "stacks" / "Pulumi.test.yaml").write_text(changed({}))
    assert "no change" in run("--format", "comment")[1]


def test_an_added_item_without_a_price_is_an_error_unless_allowed(project: Path, run: Run) -> None:
    (project / "stacks" / "Pulumi.test.yaml").write_text(changed(UNKNOWN))
    status, out, errors = run()
    assert status == 1 and "cost-unpriced" in errors and "not complete" in out
    assert run("--allow-unpriced")[0] == 0


def test_errors_of_the_earlier_state_end_the_command(project: Path, run: Run) -> None:
    (project / "old.yaml").write_text(changed({("aws", "cidr"): "nonsense"}))
    status, _, errors = run("--base", "old.yaml")
    assert status == 2 and "earlier state old.yaml has errors" in errors and "old.yaml:" in errors
