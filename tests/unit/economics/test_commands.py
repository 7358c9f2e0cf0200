"""`landbridge cost tco`, `breakeven` and `compare`: output for users and for programs."""

import json
from pathlib import Path

import pytest

from tests.unit.core.samples import changed
from tests.unit.core.test_cli import run


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("stacks") / "Pulumi.owned.yaml"
    path.write_text(changed({}))
    return str(path)


def test_tco_prints_terms_that_add_up_and_gpu_hours(file: str) -> None:
    data = json.loads(
        run("cost", "tco", "--file", file, "--months", "36", "--utilisation", "0.5", "--format", "json").stdout
    )
    assert (
        data["usd"]
        == pytest.approx(sum(data["terms"].values()))
        == pytest.approx(sum(part["usd"] for part in data["parts"]))
    )
    assert data["usd_gpu_hour"]["offered"] == pytest.approx(2.73, abs=0.005)
    assert data["usd_gpu_hour"]["used"] == pytest.approx(2 * data["usd_gpu_hour"]["offered"])
    assert data["usd_gpu_hour"]["finished"] > data["usd_gpu_hour"]["used"]
    text = run("cost", "tco", "--file", file).stdout
    assert "maintenance" in text and "finished" in text and "2026-" in text


def test_breakeven_prints_the_reference_values(file: str) -> None:
    completed = run("cost", "breakeven", "--file", file, "--utilisation", "1")
    assert completed.returncode == 0, completed.stderr
    assert "31.21 to 36.42 USD/h" in completed.stdout and "21.85 USD a node-hour" in completed.stdout
    data = json.loads(run("cost", "breakeven", "--file", file, "--utilisation", "1", "--format", "json").stdout)
    (nodes,) = data["nodes"]
    shares = {option["option"]: option["breakeven_utilisation"] for option in nodes["options"]}
    assert shares["on demand"] == pytest.approx(0.40, abs=0.005) and shares["spot, lowest"] is None
    assert {cell["option"] for cell in nodes["surface"]} == set(shares)
    assert {price["verdict"] for price in nodes["rule"]["prices"]} == {"below", "above", "never"}


def test_compare_prints_each_option_and_a_sorted_tornado(file: str) -> None:
    completed = run("cost", "compare", "--file", file)
    assert completed.returncode == 0, completed.stderr
    assert "Capacity Block" in completed.stdout and "purchase_usd" in completed.stdout
    (nodes,) = json.loads(run("cost", "compare", "--file", file, "--format", "json").stdout)["nodes"]
    effects = [bar["effect"] for bar in nodes["tornado"]]
    assert effects == sorted(effects, reverse=True)
    assert nodes["options"][0]["option"] == "owned"


def test_another_instance_is_compared_by_gpu(file: str) -> None:
    completed = run("cost", "compare", "--file", file, "--instance", "p5en.48xlarge", "--format", "json")
    (nodes,) = json.loads(completed.stdout)["nodes"]
    assert next(o["usd_hour"] for o in nodes["options"] if o["option"] == "on demand") == pytest.approx(63.296)
    wrong = run("cost", "compare", "--file", file, "--instance", "p5en.48xlarg")
    assert wrong.returncode == 2 and "p5en.48xlarge" in wrong.stderr


@pytest.mark.parametrize("command", ["tco", "breakeven", "compare"])
def test_a_command_has_help_with_an_example_and_needs_owned_nodes(command: str) -> None:
    assert f"landbridge cost {command} -s" in " ".join(run("cost", command, "--help").stdout.split())
    completed = run("cost", command, "-s", "startup")
    assert completed.returncode == 2 and "no owned nodes" in completed.stderr


def test_contradictory_costs_are_findings_and_no_cost(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.wrong.yaml"
    path.write_text(changed({("onprem", "costs"): {"years": 0, "residual_share": 1.5}}))
    completed = run("cost", "tco", "--file", str(path))
    assert completed.returncode == 1 and completed.stdout == ""
    assert "[cost-years]" in completed.stderr and "[cost-shares]" in completed.stderr


def test_the_expanded_file_has_every_input_of_the_costs(file: str) -> None:
    text = run("show", "--file", file, "--expanded").stdout
    assert "pue: 1.4  # default" in text and "staff:" in text and "financing: null  # default" in text


@pytest.mark.parametrize("command", ["tco", "breakeven", "compare"])
def test_nodes_without_a_price_are_named_and_not_counted_as_free(command: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.unpriced.yaml"
    unpriced = {"hosts": "old[01-02]", "platform": "dgx-a100", "address": "10.20.1.31", "rack": "r2"}
    path.write_text(changed({("onprem", "nodes", 1): unpriced}))
    completed = run("cost", command, "--file", str(path))
    assert completed.returncode == 0 and "old[01-02]" in completed.stdout + completed.stderr
    assert command != "tco" or "at least" in completed.stdout
    path.write_text(changed({("onprem", "nodes", 0): unpriced}))
    completed = run("cost", command, "--file", str(path))
    assert completed.returncode == 2 and "no owned node with a price" in completed.stderr
