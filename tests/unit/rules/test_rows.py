"""Every rule: at least one environment that violates it, with a finding at the right path and a helpful text."""

import pytest

from landbridge.rules import RULES
from landbridge.rules.form_findings import FORM_FINDINGS
from tests.unit.core.samples import findings
from tests.unit.rules.row import Row
from tests.unit.rules.table import checked_rows

ROWS = checked_rows()
#: Findings without an environment file, which no row can show.
WITHOUT_FILE = {"unreadable-file", "no-environment", "no-project"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}: {row.title}")
def test_a_mistake_is_reported_at_its_path(row: Row) -> None:
    everything = row.report().findings
    reported = [finding for finding in everything if finding.rule == row.rule]
    assert row.path in [finding.path for finding in reported], everything
    assert any(row.text in f"{finding.message} {finding.fix}" for finding in reported if finding.path == row.path), (
        reported
    )
    assert all(finding.line is not None and finding.column is not None for finding in reported)
    assert "rule-failed" not in {finding.rule for finding in everything}, everything


def test_the_good_environment_breaks_no_rule() -> None:
    assert findings() == ()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_a_summary_a_reason_and_a_source(name: str) -> None:
    rule = RULES[name]
    assert rule.summary.endswith("."), "the docstring's first line states what must hold, and ends with a full stop"
    assert rule.source.endswith("."), "the docstring ends with a line `Source: ...`, and that with a full stop"


@pytest.mark.parametrize("name", [*RULES, *sorted(FORM_FINDINGS.keys() - WITHOUT_FILE)])
def test_a_rule_has_a_row(name: str) -> None:
    assert name in {row.rule for row in ROWS}


def test_a_row_is_about_a_rule() -> None:
    assert {row.rule for row in ROWS} - set(RULES) - set(FORM_FINDINGS) == set()


def test_no_two_rows_have_one_title() -> None:
    titles = [row.title for row in ROWS]
    assert sorted({title for title in titles if titles.count(title) > 1}) == []


def test_an_unknown_region_is_reported_at_its_own_key() -> None:
    reported = findings(region="us-east-01")
    assert [(f.rule, f.line, f.fix) for f in reported if f.severity == "error"] == [
        ("unknown-region", 3, 'did you mean "us-east-1"?')
    ]


def test_a_cycle_of_parents_ends() -> None:
    accounts = {
        name: {"data_class": "internal", "parent": parent, "users": ["bob"]}
        for name, parent in (("a", "b"), ("b", "c"), ("c", "b"))
    }
    reported = findings({("scheduler", "accounts"): accounts})
    assert {finding.path[2] for finding in reported} == {"b", "c"}


def test_an_emulated_aws_may_have_an_example_gateway() -> None:
    emulated = {
        ("aws", "endpoints"): dict.fromkeys(("operator", "onprem", "cloud"), "http://127.0.0.1:4580"),
        ("link", "gateway_address"): "198.51.100.10",
    }
    assert findings(emulated) == ()
