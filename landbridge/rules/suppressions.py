"""Rules about `suppress`."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.form_findings import FORM_FINDINGS
from landbridge.rules.registry import RULES, OtherFindings, after_rule, rule
from landbridge.rules.run_rules import accepts

#: Prefix of the checks of `landbridge preflight`, which checks their suppressions itself.
LIVE = "live-"


@rule(suppressible=False)
def unknown_suppression(environment: Environment) -> Iterator[Finding]:
    """The rule of a suppression exists and may be suppressed.

    Rules about the file's form, data protection and laws cannot be suppressed.
    Source: Landbridge's rules (`landbridge explain`).
    """
    for index, suppression in enumerate(environment.suppress):
        path: DataPath = ("suppress", index, "rule")
        if suppression.rule.startswith(LIVE):
            continue
        if suppression.rule in FORM_FINDINGS or suppression.rule == "rule-failed":
            message = f"{suppression.rule} cannot be suppressed: it is about the form of the file"
            yield error(path, message, fix="correct the finding")
        elif suppression.rule not in RULES:
            near = did_you_mean(suppression.rule, RULES)
            fix = f'did you mean "{near}"?' if near else "run `landbridge explain` for a list"
            yield error(path, f'there is no rule "{suppression.rule}"', fix=fix)
        elif not RULES[suppression.rule].suppressible:
            message = f"{suppression.rule} cannot be suppressed: it protects data, follows from a law, or the cluster needs it"
            yield error(path, message, fix=f"run `landbridge explain {suppression.rule}` for the reason")


@after_rule
def unused_suppression(environment: Environment, other_findings: OtherFindings) -> Iterator[Finding]:
    """A suppression matches a finding: an unused one hides the next mistake.

    Not checked while a part of the file cannot be read, nor for rules that did not run.
    Source: the practice of every linter with suppressions (ruff's RUF100, ESLint's unused directives).
    """
    for index, suppression in enumerate(environment.suppress):
        if (
            not other_findings.complete
            or suppression.rule not in other_findings.ran
            or not RULES[suppression.rule].suppressible
        ):
            continue
        if not any(accepts(suppression.rule, suppression.path, finding) for finding in other_findings.findings):
            where = f" at {suppression.path}" if suppression.path else ""
            message = f"the suppression is unused: there is no finding of {suppression.rule}{where}"
            path: DataPath = ("suppress", index)
            yield warning(path, message, fix="remove it")
