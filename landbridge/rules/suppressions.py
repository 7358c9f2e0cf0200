"""Rules about `suppress`: what may be accepted, and what no longer needs to be."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.rules.form_findings import FORM_FINDINGS
from landbridge.rules.registry import RULES, OtherFindings, after_rule, rule
from landbridge.rules.run_rules import accepts

#: Rules of `landbridge preflight` have this prefix; it judges suppressions of them itself.
LIVE = "live-"


@rule(suppressible=False)
def unknown_suppression(environment: Environment) -> Iterator[Finding]:
    """A suppression names a rule that there is, and one that may be suppressed.

    A misspelt one would seem to work until the finding it was meant for comes back. What the file's own form is about
    cannot be accepted, nor what protects data or follows from a law.
    Source: this program's own rules (`landbridge explain`).
    """
    for index, one in enumerate(environment.suppress):
        path: DataPath = ("suppress", index, "rule")
        if one.rule.startswith(LIVE):
            continue
        if one.rule in FORM_FINDINGS or one.rule == "rule-failed":
            message = f"{one.rule} cannot be suppressed: the file would still not say what is meant"
            yield error(path, message, fix="correct what it is about")
        elif one.rule not in RULES:
            near = did_you_mean(one.rule, RULES)
            fix = f'did you mean "{near}"?' if near else "`landbridge explain` lists them"
            yield error(path, f'there is no rule "{one.rule}"', fix=fix)
        elif not RULES[one.rule].suppressible:
            message = (
                f"{one.rule} cannot be suppressed: it protects data, follows from a law, or nothing works without it"
            )
            yield error(path, message, fix=f"`landbridge explain {one.rule}` says why")


@after_rule
def unused_suppression(environment: Environment, found: OtherFindings) -> Iterator[Finding]:
    """A suppression is about something: one that is left over hides the next mistake of its kind.

    Not judged while a part of the file cannot be read, nor for rules that did not run.
    Source: the practice of every linter with suppressions (ruff's RUF100, ESLint's unused directives).
    """
    for index, one in enumerate(environment.suppress):
        if not found.complete or one.rule not in found.ran or not RULES[one.rule].suppressible:
            continue
        if not any(accepts(one.rule, one.path, finding) for finding in found.findings):
            where = f" at {one.path}" if one.path else ""
            message = f"nothing breaks {one.rule}{where}; this suppression is left over"
            path: DataPath = ("suppress", index)
            yield warning(path, message, fix="remove it")
