"""Text and JSON output of `landbridge check` and `landbridge explain`."""

import json
import sys
from pathlib import Path

import pytest

from landbridge.cli.main import main
from landbridge.rules import RULES
from landbridge.rules.form_findings import FORM_FINDINGS
from tests.unit.core.samples import changed

SUPPRESS = [{"rule": "spot-alone", "reason": "jobs here can wait for days"}]
SPOT = {("aws", "pools", 0, "capacity", 0): {"kind": "spot"}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    (tmp_path / "stacks" / "Pulumi.spot.yaml").write_text(changed({**SPOT, ("suppress",): SUPPRESS}))
    (tmp_path / "stacks" / "Pulumi.wrong.yaml").write_text(changed({("aws", "logs"): {"retention_days": 31}}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run a command in this process; return its status, output and errors."""
    monkeypatch.setattr(sys, "argv", ["landbridge", *arguments])
    with pytest.raises(SystemExit) as ended:
        sys.exit(main())
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_finding_is_shown_at_its_line(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, _, err = run("check", "-s", "wrong", capsys=capsys, monkeypatch=monkeypatch)
    lines = err.splitlines()
    first = next(index for index, row in enumerate(lines) if "[log-retention]" in row)
    location, line, mark, fix = lines[first : first + 4]
    position = location.split(": ")[0].split(":")
    text = (project / "stacks" / "Pulumi.wrong.yaml").read_text().splitlines()[int(position[1]) - 1]
    assert status == 1 and position[0] == "stacks/Pulumi.wrong.yaml"
    assert line.endswith(f"| {text}")
    assert line[mark.index("^")] == text[int(position[2]) - 1] == "3"
    assert fix.strip() == "use 30 or 60"


def test_a_suppressed_finding_is_counted_and_shown_with_the_option(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, err = run("check", "-s", "spot", capsys=capsys, monkeypatch=monkeypatch)
    assert (status, "spot-alone" in err) == (0, False)
    assert out.strip().endswith("1 suppressed")
    for option in ("--suppressed", "--verbose"):
        _, _, err = run("check", "-s", "spot", option, capsys=capsys, monkeypatch=monkeypatch)
        assert "accepted: jobs here can wait for days [spot-alone]" in err


def test_json_output_contains_suppressed_findings(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, err = run("check", "-s", "spot", "--format", "json", capsys=capsys, monkeypatch=monkeypatch)
    data = json.loads(out)
    assert err == ""
    assert data["errors"] == 0
    assert [(entry["rule"], entry["reason"]) for entry in data["suppressed"]] == [("spot-alone", SUPPRESS[0]["reason"])]


@pytest.mark.parametrize("name", [*RULES, *FORM_FINDINGS])
def test_every_rule_can_be_explained(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, _ = run("explain", name, "--format", "json", capsys=capsys, monkeypatch=monkeypatch)
    explanation = json.loads(out)
    assert (status, explanation["rule"]) == (0, name)
    assert explanation["why"] and explanation["source"]
    assert explanation["examples"] or name in ("unreadable-file", "no-environment", "no-project")


def test_an_explanation_as_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = run("explain", "[log-retention]", capsys=capsys, monkeypatch=monkeypatch)
    assert status == 0
    for part in (
        "CloudWatch Logs",
        "Source: ",
        "retention_days: 31",
        "use 30 or 60",
        "suppress: [{rule: log-retention",
    ):
        assert part in out


def test_without_a_name_every_rule_is_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, _ = run("explain", capsys=capsys, monkeypatch=monkeypatch)
    listed = {line.split()[0] for line in out.splitlines() if line.startswith("  ")}
    assert status == 0 and {*RULES, *FORM_FINDINGS, "live-quota"} <= listed


def test_a_misspelt_rule(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, _, err = run("explain", "log-retenton", capsys=capsys, monkeypatch=monkeypatch)
    assert status == 2 and 'did you mean "log-retention"?' in err
