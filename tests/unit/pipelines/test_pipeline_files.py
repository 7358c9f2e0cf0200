"""Files of pipelines: positions of findings, rules, JSON Schema, the example, and its files for CI."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from landbridge import yaml_text
from landbridge.pipelines.definition.read import read_pipeline
from landbridge.pipelines.definition.rules import script_findings
from landbridge.pipelines.definition.schema import pipeline_schema

EXAMPLES = Path(__file__).parents[3] / "examples" / "pipelines"
BASE = """name: digits
owner: ann
account: lab
data_class: internal
triggers: [{kind: hand}]
steps:
  - name: train
    script: train.sh
"""


@pytest.mark.parametrize(
    ("text", "rule", "place"),
    [
        ("", "missing-key", (1, 1)),
        ("- a", "wrong-type", (1, 1)),
        ("name: [\n", "bad-yaml", (2, 1)),
        (BASE.replace("owner: ann\n", ""), "missing-key", (1, 1)),
        (BASE.replace("owner", "ownr"), "unknown-key", (2, 1)),
        (BASE.replace("{kind: hand}", "{kind: hands}"), "unknown-value", (5, 19)),
        (BASE.replace("{kind: hand}", "{at: 02:00}"), "missing-key", (5, 12)),
        (BASE.replace("train.sh", "../train.sh"), "wrong-format", (8, 13)),
        (BASE + "    needs: [evaluate]\n", "pipeline-needs", (9, 13)),
        (BASE + "    needs: [train]\n", "pipeline-cycle", (9, 5)),
        (BASE + "  - {name: train, script: a.sh}\n", "pipeline-step", (9, 12)),
        (BASE + "    options: [--job-name=x]\n", "pipeline-option", (9, 15)),
        (BASE + "    options: [--arr=1-3]\n", "pipeline-option", (9, 15)),
        (BASE + "    options: [-a1-3]\n", "pipeline-option", (9, 15)),
        (BASE + "    options: [gpu]\n", "pipeline-option", (9, 15)),
        (BASE + "    gates: [{metric: a, at_least: 1}]\n", "pipeline-gate", (9, 13)),
        (BASE + "    metrics: m.json\n    gates: [{metric: a}]\n", "pipeline-gate", (10, 13)),
        (BASE + "    metrics: m.json\n    gates: [{metric: a, at_least: 1, at_most: 2}]\n", "pipeline-gate", (10, 13)),
    ],
)
def test_a_fault_is_found_at_its_place(text: str, rule: str, place: tuple[int, int]) -> None:
    findings = read_pipeline(text, "p.yaml").findings
    assert (rule, place) in [(finding.rule, (finding.line, finding.column)) for finding in findings], findings


def test_all_faults_are_found_at_once() -> None:
    text = BASE.replace("owner", "ownr").replace("{kind: hand}", "{kind: hands}").replace("train.sh", "/x y")
    rules = [finding.rule for finding in read_pipeline(text, "p.yaml").findings]
    assert sorted(rules) == ["missing-key", "unknown-key", "unknown-value", "wrong-format"]


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (None, "cannot be read"),
        ("srun a\n", "#!"),
        ("#!/bin/sh\n#SBATCH --array=1-9\n", "--array"),
        ("#!/bin/sh\n#SBATCH -d afterok:7\n", "--dependency"),
        ("#!/bin/sh\n#SBATCH hetjob\n", "hetjob"),
        ("#!/bin/sh\n#SBATCH --gpus=1 --time=5\n", ""),
    ],
)
def test_a_script_is_one_job(script: str | None, fault: str) -> None:
    loaded = read_pipeline(BASE, "p.yaml")
    assert loaded.definition is not None and not loaded.findings
    messages = [finding.message for finding in script_findings(loaded.definition, {"train": script})]
    assert (len(messages) == 1 and fault in messages[0]) if fault else not messages, messages


def test_the_schema_accepts_the_example_and_refuses_what_check_refuses() -> None:
    validator = jsonschema.Draft202012Validator(pipeline_schema())
    data = yaml_text.load((EXAMPLES / "digits.yaml").read_text())
    validator.validate(data)
    assert not validator.is_valid({**data, "ownr": "ann"})
    assert not validator.is_valid({**data, "triggers": [{"kind": "hands"}]})


def test_the_example_has_no_findings() -> None:
    loaded = read_pipeline((EXAMPLES / "digits.yaml").read_bytes(), "digits.yaml")
    assert loaded.definition is not None and not loaded.findings
    scripts = {step.name: (EXAMPLES.parent / step.script).read_text() for step in loaded.definition.steps}
    assert not list(script_findings(loaded.definition, scripts))


def test_the_files_for_ci_run_the_pipeline_of_the_commit() -> None:
    github: dict[str, Any] = yaml_text.load((EXAMPLES / "github-actions.yml").read_text())
    gitlab: dict[str, Any] = yaml_text.load((EXAMPLES / "gitlab-ci.yml").read_text())
    assert github["on"] == {"push": {"branches": ["main"]}}
    commands = [step["run"] for step in github["jobs"]["pipeline"]["steps"] if "run" in step]
    assert [command.partition(" --commit")[0] for command in commands] == [
        command.partition(" --commit")[0] for command in gitlab["pipeline"]["script"]
    ]
    assert commands[-1].endswith('--commit "$GITHUB_SHA"')
    assert gitlab["pipeline"]["script"][-1].endswith('--commit "$CI_COMMIT_SHA"')
