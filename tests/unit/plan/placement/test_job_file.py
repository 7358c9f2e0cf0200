"""Job files: a correct one becomes a job, and every mistake a finding with its place in the file."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.findings import DataPath
from landbridge.plan.placement.job import DataInput, PlacementJob
from landbridge.plan.placement.job_file import read_job
from tests.thorough import examples
from tests.unit.core.samples import environment

DATA_SETS: dict[DataPath, Any] = {
    ("placement", "data_sets"): {"imagenet": {"data_class": "internal", "site": "onprem", "gb": 150}}
}
ENVIRONMENT = environment(DATA_SETS)


def test_a_correct_file_is_a_job() -> None:
    text = """account: vision
gpus: 16
hours: 2.5
class: experiments
data_sets: [imagenet]
inputs: [{gb: 20, site: aws}]
deadline_hours: 48
"""
    job, findings = read_job(text, "job.yaml", ENVIRONMENT)
    inputs = (DataInput(150, "onprem", "internal", "imagenet"), DataInput(20, "aws"))
    assert findings == ()
    assert job == PlacementJob("vision", 16, 2.5, inputs=inputs, deadline_hours=48, workload="experiments")


@pytest.mark.parametrize(
    ("line", "rule", "place", "text"),
    [
        ('gpus: "8"', "wrong-type", (4, 7), "a whole number"),
        ("gpus: 1.5", "wrong-type", (4, 7), "a whole number"),
        ("gpus: 0", "out-of-range", (4, 7), "at least 1"),
        ("hours: -1", "out-of-range", (4, 8), "more than 0"),
        ("huors: 3", "unknown-key", (4, 1), '"hours"'),
        ("class: batch", "unknown-value", (4, 8), "'experiments'"),
        ("account: visoin", "unknown-name", (4, 10), '"vision"'),
        ("account: [vision]", "wrong-type", (4, 1), "text"),
        ("partition: p55", "unknown-name", (4, 12), '"p5"'),
        ("gpu: h10", "unknown-name", (4, 6), '"h100"'),
        ("data_sets: [imagenette]", "unknown-name", (4, 13), '"imagenet"'),
        ("data_sets: imagenet", "wrong-type", (4, 12), "a list"),
        ("inputs: [{gb: 1, site: moon}]", "unknown-value", (4, 24), "'onprem' or 'aws'"),
        ("inputs: [{gb: 1, site: aws, data_class: internl}]", "unknown-name", (4, 41), '"internal"'),
        ("inputs: [{gb: 1, place: aws, site: aws}]", "unknown-key", (4, 18), "site"),
        ("inputs: [{gb: 1}]", "missing-key", (4, 10), "site"),
        ("name: [", "bad-yaml", (5, 1), "not YAML"),
    ],
)
def test_a_mistake_is_located(line: str, rule: str, place: tuple[int, int], text: str) -> None:
    keys = {"account": "account: vision", "gpus": "gpus: 8", "hours": "hours: 1"}
    # The mistake is on line 4, in place of the correct line of its key.
    rows = [row if not line.startswith(f"{key}:") else "" for key, row in keys.items()]
    job, findings = read_job("\n".join([*rows, line, ""]), "job.yaml", ENVIRONMENT)
    assert job is None
    (finding,) = findings
    assert (finding.rule, finding.file) == (rule, "job.yaml")
    assert (finding.line, finding.column) == place
    assert text in f"{finding.message} {finding.fix}"


def test_all_mistakes_are_reported_at_once() -> None:
    job, findings = read_job("gpus: many\ndeadline_hours: soon\nx: 1\n", "job.yaml", ENVIRONMENT)
    assert job is None
    assert sorted(finding.rule for finding in findings) == [
        "missing-key",
        "missing-key",
        "unknown-key",
        "wrong-type",
        "wrong-type",
    ]


@pytest.mark.parametrize("text", ["", "[]", "7", "just text", "\x00", "&a [*a]"])
def test_a_file_without_a_job_has_a_finding(text: str) -> None:
    job, findings = read_job(text, "job.yaml", ENVIRONMENT)
    assert job is None and findings and all(finding.line for finding in findings)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["gb", "site", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYS = st.sampled_from(["account", "gpus", "hours", "class", "inputs", "data_sets", "gpu", "partition", "qos", "wckey"])


@settings(deadline=None, max_examples=examples(40, 120))
@given(st.dictionaries(KEYS, JUNK, max_size=4))
def test_any_content_is_a_job_or_located_findings(content: dict[str, Any]) -> None:
    job, findings = read_job(json.dumps(content), "job.yaml", ENVIRONMENT)
    assert (job is None) == bool(findings)
    assert all(finding.file and finding.line and finding.column and finding.message for finding in findings)
