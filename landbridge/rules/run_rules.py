"""Run all rules over one loaded file."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from landbridge.environment import Environment, Loaded
from landbridge.findings import DataPath, Finding, Severity, in_order, path_text
from landbridge.plan.region_findings import in_other_region
from landbridge.rules.other_region_rules import RULES_PER_REGION, environments_of_other_regions
from landbridge.rules.registry import RULES, OtherFindings, Rule


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Finding that the environment suppresses, with its reason."""

    finding: Finding
    reason: str

    def shown(self) -> Finding:
        """Return the finding with severity info and the reason."""
        message = f"{self.finding.message}; accepted: {self.reason}"
        return replace(self.finding, message=message, severity=Severity.INFO, fix=None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for `--format json`."""
        return {**self.finding.to_dict(), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Findings of a file, and its suppressed findings."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]


def check(loaded: Loaded, today: date | None = None) -> tuple[Finding, ...]:
    """Return all findings of a loaded environment: findings of loading and findings of the rules.

    `today` is for rules about dates; without it they do not run.
    """
    return check_report(loaded, today).findings


def check_report(loaded: Loaded, today: date | None = None) -> CheckReport:
    """Return all findings as `check` does, and the suppressed ones. A rule that fails becomes a finding."""
    environment = loaded.partial
    if environment is None:
        return CheckReport(loaded.findings, ())
    ran = [rule for rule in RULES.values() if rule.kind != "after" and _applies(rule, environment, today)]
    placed = [
        loaded.place(finding)
        for rule in ran
        for finding in _run(rule, environment, *_extra_arguments(rule, loaded, today))
        if loaded.reliable(finding)
    ]
    placed += _other_region_findings(loaded, environment, today)
    ordered = in_order(placed)
    other_findings = OtherFindings(ordered, frozenset(rule.name for rule in ran), complete=not loaded.outcome.tainted)
    after = [
        loaded.place(finding)
        for rule in RULES.values()
        if rule.kind == "after"
        for finding in _run(rule, environment, other_findings)
        if loaded.reliable(finding)
    ]
    reported, suppressed = _split(environment, ordered)
    return CheckReport(in_order([*loaded.findings, *reported, *after]), suppressed)


def _other_region_findings(loaded: Loaded, environment: Environment, today: date | None) -> Iterator[Finding]:
    """Yield the findings of pools' capacity in other regions."""
    for region, region_environment in environments_of_other_regions(environment):
        for name in RULES_PER_REGION:
            rule = RULES[name]
            if not _applies(rule, environment, today):
                continue
            for raw_finding in _run(rule, region_environment, *_extra_arguments(rule, loaded, today)):
                finding = (
                    raw_finding
                    if raw_finding.rule == "rule-failed"
                    else in_other_region(raw_finding, region, region_environment)
                )
                if finding is not None and loaded.reliable(finding):
                    yield loaded.place(finding)


def _applies(rule: Rule, environment: Environment, today: date | None) -> bool:
    """Return true for a rule that runs: a dated rule needs `today`, a rule of public AWS needs AWS's own endpoints."""
    return not (rule.kind == "dated" and today is None) and (
        not rule.public_aws or environment.aws.endpoints.are_public
    )


def accepts(rule: str, path: str | None, finding: Finding) -> bool:
    """Return true if a suppression of `rule` at `path` (None: anywhere) matches a finding; a path includes its parts."""
    if finding.rule != rule or rule not in RULES or not RULES[rule].suppressible:
        return False
    finding_path = path_text(finding.path)
    return path is None or finding_path == path or finding_path.startswith((f"{path}.", f"{path}["))


def _extra_arguments(rule: Rule, loaded: Loaded, today: date | None) -> tuple[Any, ...]:
    match rule.kind:
        case "file":
            return (loaded,)
        case "dated":
            return (today,)
        case _:
            return ()


def _run(rule: Rule, *arguments: Any) -> Iterator[Finding]:
    try:
        yield from rule.function(*arguments)
    except Exception as error:  # noqa: BLE001  (a defect in one rule must not lose the findings of the others)
        text = " ".join(str(error).split())[:200]
        message = f"the rule {rule.name} failed: {type(error).__name__}{f': {text}' if text else ''}"
        path: DataPath = ()
        yield Finding("rule-failed", message, path, "a defect in Landbridge; the findings of other rules are complete")


def _split(
    environment: Environment, findings: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...]]:
    reported, suppressed = [], []
    for finding in findings:
        reasons = [
            suppression.reason
            for suppression in environment.suppress
            if accepts(suppression.rule, suppression.path, finding)
        ]
        if reasons:
            suppressed.append(Suppressed(finding, reasons[0]))
        else:
            reported.append(finding)
    return tuple(reported), tuple(suppressed)
