"""Answers: each fault is a finding with its place, all at once; valid answers are read as they are written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge import yaml_text
from landbridge.economics.assessment.answers_file import answers_of, read_answers
from landbridge.findings import Severity
from tests.thorough import examples
from tests.unit.assessment.organisations import ORGANISATIONS

GOOD = """workloads: {baseline: 60, burst: 40}
utilisation: {gpu: h100, mean_gpus: 40, peak_gpus: 96}
"""


def findings_of(text: str) -> list[tuple[str, int | None, int | None]]:
    outcome = read_answers(text, "answers.yaml")
    assert (outcome.answers is None) == any(finding.severity is Severity.ERROR for finding in outcome.findings)
    assert all(finding.file == "answers.yaml" for finding in outcome.findings)
    return [(finding.rule, finding.line, finding.column) for finding in outcome.findings]


def test_good_answers_have_no_finding() -> None:
    assert findings_of(GOOD) == []
    assert findings_of("# later\n" + GOOD + "data: {classes: []}\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("wrong-type", 1, 1)]),
        ("- a\n", [("wrong-type", 1, 1)]),
        ("workloads: {baseline: [\n", [("bad-yaml", None, None)]),
        (GOOD + "growht: {percent_a_year: 3}\n", [("unknown-key", 3, 1)]),
        (GOOD.replace("burst: 40", "burst: 30"), [("shares-sum", 1, 1)]),
        (GOOD.replace("burst: 40", "burst: forty"), [("wrong-type", 1, 34)]),
        (GOOD.replace("burst: 40", "burst: -40"), [("bad-value", 1, 34)]),
        (GOOD.replace("peak_gpus: 96", "peak_gpus: 9"), [("peak-below-mean", 2, 52)]),
        (GOOD.replace(", peak_gpus: 96", ""), [("missing-key", 2, 1)]),
        (GOOD.replace("h100", "h10"), [("unknown-name", 2, 20)]),
        (GOOD + "constraints:\n  region: us-nowhere-1\n", [("unknown-name", 4, 11)]),
        (GOOD + "constraints:\n  machines: [{platform: dgx-h1000, nodes: 2}]\n", [("unknown-name", 4, 25)]),
        (
            GOOD + "constraints:\n  machines: [{platform: dgx-h100}, 5]\n",
            [("missing-key", 4, 14), ("wrong-type", 4, 36)],
        ),
        (GOOD + "constraints:\n  sites: [moon]\n", [("bad-value", 4, 11)]),
        (
            GOOD + "constraints:\n  sites: [aws]\n  machines: [{platform: dgx-h100, nodes: 1}]\n",
            [("machines-without-site", 5, 3)],
        ),
        (GOOD.replace("burst: 40", "sensitive: 40"), [("sensitive-without-class", 1, 38)]),
        (GOOD + "data:\n  classes:\n    - {name: a}\n    - {name: a}\n", [("duplicate-class", 6, 14)]),
        (GOOD + "staff: {people: 0, gpu_operations: experienced}\n", [("experience-without-people", 3, 17)]),
        (
            GOOD.replace("96}", "96, trace: {p50: 60, p90: 40, p99: 200}}"),
            [("trace-order", 2, 78), ("trace-above-peak", 2, 87)],
        ),
    ],
)
def test_a_fault_has_its_place(text: str, expected: list[tuple[str, int | None, int | None]]) -> None:
    if expected == [("bad-yaml", None, None)]:
        assert [rule for rule, _, _ in findings_of(text)] == ["bad-yaml"]
    else:
        assert findings_of(text) == expected


RESTRICTED = GOOD.replace("burst: 40", "sensitive: 40") + "data:\n  classes:\n    - {name: secret, CLASS}\n"


@pytest.mark.parametrize(
    ("data_class", "constraints", "rule", "words"),
    [
        ("regime: classified", "sites: [aws]", "restricted-data-no-site", "Classified data"),
        ("sites: [onprem]", "sites: [aws]", "restricted-data-no-site", "onprem only"),
        ("sites: [aws]", "sites: [onprem]", "restricted-data-no-site", "aws only"),
        ("regime: itar, sites: [aws]", "region: us-east-1", "class-without-site", "22 CFR 120.54(a)(5)"),
        ("regime: classified, sites: [aws]", "region: us-east-1", "class-without-site", "Classified data"),
        ("regime: gdpr", "{region: us-east-1, sites: [aws]}", "restricted-data-no-site", "articles 28 and 44"),
    ],
)
def test_restricted_data_without_a_site_is_a_contradiction(
    data_class: str, constraints: str, rule: str, words: str
) -> None:
    text = (
        RESTRICTED.replace("CLASS", data_class)
        + f"constraints: {constraints if '{' in constraints else '{' + constraints + '}'}\n"
    )
    (finding,) = read_answers(text, "answers.yaml").findings
    assert (finding.rule, finding.line, finding.severity) == (rule, 5, Severity.ERROR)
    assert words in finding.message and finding.fix


def test_a_warning_does_not_prevent_an_assessment() -> None:
    text = RESTRICTED.replace("CLASS", "regime: itar, at: aws") + "constraints: {region: us-east-1}\n"
    outcome = read_answers(text, "answers.yaml")
    assert [finding.rule for finding in outcome.findings] == ["data-at-forbidden-site"] and outcome.answers is not None
    text = GOOD + "data: {classes: [{name: patients, regime: hipaa}, {name: open}]}\n"
    assert [finding.rule for finding in read_answers(text, "answers.yaml").findings] == ["class-without-work"]


def test_all_faults_are_reported_at_once() -> None:
    text = """workloads: {baseline: 60, burst: ten}
utilization: {}
utilisation: {gpu: h100, mean_gpus: 40, peak_gpus: 9, hours_a_week: 200}
constraints: {sites: [aws]}
data: {classes: [{name: secret, regime: classified, tb: many}]}
"""
    rules = [rule for rule, _, _ in findings_of(text)]
    assert rules == [
        "wrong-type",
        "unknown-key",
        "peak-below-mean",
        "bad-value",
        "restricted-data-no-site",
        "wrong-type",
    ]


@pytest.mark.parametrize("name", ORGANISATIONS)
def test_answers_in_a_file_are_those_of_the_data(name: str) -> None:
    import json

    data = ORGANISATIONS[name].answers
    outcome = read_answers(json.dumps(data), "answers.yaml")
    assert outcome.answers == answers_of(data).answers is not None
    assert yaml_text.load(json.dumps(data)) == data


KEYS = """workloads baseline sensitive utilisation gpu mean_gpus peak_gpus trace p50 data classes name regime sites
constraints machines platform nodes region staff people x"""
LEAVES = [None, True, -5, 0, 3, 200, 1e400, float("nan"), "h100", "aws", "", "x"]
VALUES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=5),
    max_leaves=12,
)


@given(VALUES)
@settings(max_examples=examples(50, 150), deadline=None)
def test_no_answers_raise(data: object) -> None:
    outcome = answers_of(data)
    assert outcome.answers is not None or outcome.findings
