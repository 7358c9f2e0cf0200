"""Run of the rules: suppressions, rules that fail, dated rules."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity, error, info, warning
from landbridge.rules import RULES, check, check_report, dated_rule, rule
from landbridge.rules.registry import Rule
from tests.unit.core.samples import findings, loaded

WHY = "jobs here can wait for days"
SPOT: dict[DataPath, Any] = {("aws", "pools", 0, "capacity", 0): {"kind": "spot"}}


def suppressing(name: str, **more: str) -> dict[DataPath, Any]:
    """Return the changes for spot alone with one suppression."""
    return {**SPOT, ("suppress",): [{"rule": name, "reason": WHY, **more}]}


def names(reported: tuple[Finding, ...]) -> set[str]:
    return {finding.rule for finding in reported}


@pytest.fixture
def temporary() -> Iterator[dict[str, Rule]]:
    """Yield the registry of rules, and restore it afterwards."""
    before = dict(RULES)
    yield RULES
    RULES.clear()
    RULES.update(before)


def test_a_suppressed_finding_is_kept_apart_with_its_reason() -> None:
    report = check_report(loaded(suppressing("spot-alone")))
    assert "spot-alone" not in names(report.findings)
    assert [(suppressed.finding.rule, suppressed.reason) for suppressed in report.suppressed] == [("spot-alone", WHY)]
    assert report.suppressed[0].shown().severity is Severity.INFO
    assert WHY in report.suppressed[0].shown().message


@pytest.mark.parametrize("path", ["aws.pools[0].capacity", "aws.pools[0]", "aws.pools", "aws"])
def test_a_path_covers_its_parts(path: str) -> None:
    assert "spot-alone" not in names(check(loaded(suppressing("spot-alone", path=path))))


@pytest.mark.parametrize("path", ["aws.pools[1]", "aws.pool", "onprem", "aws.pools[0].cap"])
def test_another_path_suppresses_nothing(path: str) -> None:
    reported = check(loaded(suppressing("spot-alone", path=path)))
    assert {"spot-alone", "unused-suppression"} <= names(reported)


def test_a_suppressed_error_is_not_reported() -> None:
    changes: dict[DataPath, Any] = {("scheduler", "partitions"): {"x": {}}}
    assert any(finding.severity is Severity.ERROR for finding in check(loaded(changes)))
    accepted = {**changes, ("suppress",): [{"rule": "unknown-node", "reason": "nodes come with a later stack"}]}
    assert check(loaded(accepted)) == ()


@pytest.mark.parametrize("name", ["unknown-key", "rule-failed", "class-not-in-region", "unused-suppression"])
def test_a_suppression_of_such_a_rule_is_refused(name: str) -> None:
    reported = check(loaded(suppressing(name)))
    assert [finding.path for finding in reported if finding.rule == "unknown-suppression"] == [("suppress", 0, "rule")]


@pytest.mark.parametrize("name", [entry.name for entry in RULES.values() if not entry.suppressible])
def test_a_rule_for_data_or_law_stays_whatever_is_suppressed(name: str) -> None:
    from tests.unit.rules.table import checked_rows

    row = next(candidate for candidate in checked_rows() if candidate.rule == name)
    if "suppress" in {path[0] for path in row.changes if path}:
        return
    changes = {**row.changes, ("suppress",): [{"rule": name, "reason": "we think that this is good"}]}
    reported = check_report(loaded(changes, region=row.region, beside=row.beside, edit=row.edit), row.today).findings
    assert name in names(reported)


def test_a_suppression_of_preflight_is_left_to_preflight() -> None:
    assert "unknown-suppression" not in names(check(loaded(suppressing("live-quota"))))


def test_no_suppression_is_unused_while_a_part_cannot_be_read() -> None:
    broken = {("aws", "pools", 0, "max_nodes"): "many", ("suppress",): [{"rule": "spot-alone", "reason": WHY}]}
    assert "unused-suppression" not in names(findings(broken))


def test_a_suppression_of_a_dated_rule_is_not_unused_without_a_day() -> None:
    changes: dict[DataPath, Any] = {("suppress",): [{"rule": "maintenance-expired", "reason": WHY}]}
    assert "unused-suppression" not in names(check_report(loaded(changes)).findings)
    assert "unused-suppression" in names(check_report(loaded(changes), date(2026, 1, 1)).findings)


def test_a_rule_that_fails_is_a_finding_and_hides_no_other(temporary: dict[str, Rule]) -> None:
    @rule
    def broken_rule(environment: Environment) -> Iterator[Finding]:
        """Fails half way. Source: this test."""
        yield Finding("broken-rule", "before", ("aws", "cidr"))
        raise KeyError(environment.name)

    reported = check(loaded(SPOT))
    failed = [finding for finding in reported if finding.rule == "rule-failed"]
    assert len(failed) == 1 and failed[0].severity is Severity.ERROR and failed[0].line is not None
    assert "broken-rule" in failed[0].message and "KeyError" in failed[0].message
    assert {"broken-rule", "spot-alone"} <= names(reported)


def test_a_dated_rule_runs_only_with_a_day(temporary: dict[str, Rule]) -> None:
    @dated_rule
    def not_on_sundays(environment: Environment, today: date) -> Iterator[Finding]:
        """No environment is checked on Sundays. Source: Exodus 20:10."""
        if today.isoweekday() == 7:
            yield Finding("not-on-sundays", f"{today} is one", ("owner",))

    assert "not-on-sundays" not in names(check(loaded()))
    assert "not-on-sundays" not in names(check(loaded(), date(2026, 11, 20)))
    assert "not-on-sundays" in names(check(loaded(), date(2026, 11, 22)))


def test_a_docstring_is_summary_reason_and_source(temporary: dict[str, Rule]) -> None:
    @rule(suppressible=False)
    def some_rule(environment: Environment) -> Iterator[Finding]:
        """A condition holds: this is the reason.

        More of it, over
        two lines.
        Source: a book,
        on two lines.
        """
        yield from ()

    registered = RULES["some-rule"]
    assert registered.summary == "A condition holds: this is the reason."
    assert registered.why == "A condition holds: this is the reason.\nMore of it, over two lines."
    assert registered.source == "a book, on two lines."
    assert not registered.suppressible


def test_two_modules_cannot_have_one_rule(temporary: dict[str, Rule]) -> None:
    def spot_alone(environment: Environment) -> Iterator[Finding]:
        """Another one. Source: this test."""
        yield from ()

    with pytest.raises(ValueError, match="spot-alone"):
        rule(spot_alone)


def test_an_unreadable_file_has_no_other_findings() -> None:
    report = check_report(loaded(edit=('"config": {', '"config": [')), date(2026, 1, 1))
    assert names(report.findings) == {"bad-yaml"} and report.suppressed == ()


@pytest.mark.parametrize(
    ("endpoints", "runs"),
    [({}, True), (dict.fromkeys(("operator", "onprem", "cloud"), "http://127.0.0.1:4580"), False)],
)
def test_a_rule_of_the_public_aws_runs_with_its_own_endpoints_alone(
    temporary, endpoints: dict[str, str], runs: bool
) -> None:
    @rule(public_aws=True)
    def public_prices(environment: Environment) -> Iterator[Finding]:
        """Prices are those of AWS.

        Source: this test.
        """
        yield warning((), "a price")

    changed: dict[DataPath, Any] = {("aws", "endpoints"): endpoints} if endpoints else {}
    assert ("public-prices" in names(check(loaded(changed)))) is runs


def test_a_finding_bears_the_name_and_severity_of_its_rule(temporary) -> None:
    @rule
    def three_severities(environment: Environment) -> Iterator[Finding]:
        """Every severity has a function.

        Source: this test.
        """
        yield error(("aws",), "one", fix="mend it")
        yield warning((), "two")
        yield info((), "three", related=(("aws",),))

    reported = [finding for finding in check(loaded({})) if finding.rule == "three-severities"]
    assert {(finding.message, finding.severity.value, finding.fix) for finding in reported} == {
        ("one", "error", "mend it"),
        ("two", "warning", None),
        ("three", "info", None),
    }
