"""`landbridge assess` as a command: text, JSON, findings, prompts, and the file that it writes."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from landbridge import yaml_text
from landbridge.catalog.assessment import assessment_facts
from tests.unit.assessment.organisations import ORGANISATIONS
from tests.unit.core.samples import ROOT

COMMAND = [sys.executable, "-m", "landbridge.cli.main"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    for path in (ROOT / "stacks").glob("Pulumi.*.yaml"):
        shutil.copy(path, tmp_path / "stacks")
    (tmp_path / "bank.yaml").write_text(json.dumps(ORGANISATIONS["bank under PCI"].answers))
    return tmp_path


def landbridge(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*COMMAND, *words], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def test_the_report_and_the_file_agree_with_the_checks(checkout: Path) -> None:
    done = landbridge(checkout, "assess", "bank.yaml", "--write", "acme")
    assert done.returncode == 0, done.stderr
    assert "on-prem baseline with burst" in done.stdout and "next: landbridge check -s acme" in done.stdout
    for title in ("reasons", "path", "data and work", "break-even use", "cost a month", "staff", "rules", "sources"):
        assert f"\n{title}\n" in done.stdout
    checked = landbridge(checkout, "check", "-s", "acme")
    assert checked.returncode == 0 and "no errors" in checked.stdout
    text = (checkout / "stacks" / "Pulumi.acme.yaml").read_text()
    again = landbridge(checkout, "assess", "bank.yaml", "--write", "acme")
    assert again.returncode == 1 and "already exists" in again.stderr.replace("\n", " ")
    assert (checkout / "stacks" / "Pulumi.acme.yaml").read_text() == text


def test_a_file_that_pulumi_has_begun_is_not_overwritten_either(checkout: Path) -> None:
    begun = checkout / "stacks" / "Pulumi.acme.yaml"
    begun.write_text("config:\n  aws:region: us-west-2\n")
    done = landbridge(checkout, "assess", "bank.yaml", "--write", "acme")
    assert done.returncode == 1 and begun.read_text() == "config:\n  aws:region: us-west-2\n"


def test_json_has_the_rule_of_every_sentence(checkout: Path) -> None:
    done = landbridge(checkout, "assess", "bank.yaml", "--format", "json")
    data = json.loads(done.stdout)
    assert data["architecture"] == "on-prem baseline with burst" and data["written"] is None and data["findings"] == []
    sentences = [sentence for section in data["sections"].values() for sentence in section]
    sentences += [sentence for phase in data["phases"] for sentence in phase["sentences"]]
    assert sentences and {sentence["rule"] for sentence in sentences} <= set(assessment_facts().rules)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("missing.yaml",), 2, "cannot read it"),
        ((), 2, "on a terminal"),
        (("bank.yaml", "--write", "Acme"), 1, "is not a valid name"),
        (("bank.yaml", "--write", "hybrid"), 1, "already exists"),
        (("bad.yaml",), 1, "bad.yaml:2:1: error: unknown key"),
    ],
)
def test_what_cannot_be_assessed_writes_nothing(
    checkout: Path, words: tuple[str, ...], status: int, message: str
) -> None:
    (checkout / "bad.yaml").write_text("workloads: {baseline: 100}\nutilization: {}\n")
    before = {path: path.read_text() for path in (checkout / "stacks").iterdir()}
    done = landbridge(checkout, "assess", *words)
    assert done.returncode == status and message in " ".join(done.stderr.split()), done.stderr
    assert done.stdout == ""
    assert {path: path.read_text() for path in (checkout / "stacks").iterdir()} == before


def test_a_file_that_would_have_errors_is_not_written_and_the_report_is(checkout: Path) -> None:
    answers = {
        "workloads": {"baseline": 100},
        "utilisation": {"gpu": "a100", "mean_gpus": 4, "peak_gpus": 8},
        "constraints": {"region": "eu-north-1"},
    }
    (checkout / "a100.yaml").write_text(json.dumps(answers))
    done = landbridge(checkout, "assess", "a100.yaml", "--write", "acme")
    assert done.returncode == 1 and "was not written: it would have errors" in done.stderr
    assert "[type-not-in-region]" in done.stderr and "AWS does not offer p4de.24xlarge in eu-north-1" in done.stdout
    assert not (checkout / "stacks" / "Pulumi.acme.yaml").exists()


def test_findings_as_json(checkout: Path) -> None:
    (checkout / "bad.yaml").write_text("workloads: {baseline: 90}\nutilization: {}\n")
    done = landbridge(checkout, "assess", "bad.yaml", "--format", "json")
    findings = json.loads(done.stdout)["findings"]
    assert done.returncode == 1 and {finding["rule"] for finding in findings} == {
        "shares-sum",
        "unknown-key",
        "missing-key",
    }
    assert all(finding["line"] and finding["file"] == "bad.yaml" for finding in findings)


def test_on_a_terminal_the_questions_are_put_and_a_refused_answer_again(checkout: Path) -> None:
    # Organisation, owner, the five shares, GPU (one wrong answer), mean (one empty answer), peak, hours, growth, people, experience; two data
    # classes, then none; one kind of machines; region, sites, power, capital, budget, weeks.
    answers = [
        "Acme",
        "ml@acme.example",
        "60",
        "20",
        "0",
        "0",
        "20",
        "h900",
        "h100",
        "",
        "40",
        "96",
        "",
        "",
        "2",
        "some",
    ]
    answers += ["patients", "hipaa", "onprem", "onprem", "120", "open", "", "", "", "", ""]
    answers += ["dgx-h100", "2", ""]
    answers += ["us-east-1", "", "", "", "", "60"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [*COMMAND, "assess", "--write", "acme"]
    with subprocess.Popen(
        command, cwd=checkout, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        output = b""
        try:
            while chunk := os.read(ours, 4096):
                output += chunk
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0, output.decode()
    os.close(ours)
    text = output.decode()
    assert "h900 is not one of h100" in text and "an answer is required" in text and "Acme: on-prem baseline" in text
    body = yaml_text.load((checkout / "stacks" / "Pulumi.acme.yaml").read_text())["config"]["landbridge:environment"]
    assert body["owner"] == "ml@acme.example"
    assert body["data_classes"] == {
        "patients": {"sites": ["onprem"], "regime": "hipaa"},
        "open": {"sites": ["onprem", "aws"]},
    }
    assert [group["platform"] for group in body["onprem"]["nodes"]] == ["dgx-h100", "dgx-h100"], "two racks"
    assert body["onprem"]["nodes"][0]["hosts"] == "gpu[0001-0002]", "the existing machines are the first rack"
