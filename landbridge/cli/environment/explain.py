"""Command `landbridge explain`: reason, source, example and fix of a rule."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import Format, print_json
from landbridge.findings import did_you_mean

if TYPE_CHECKING:
    from landbridge.rules.explanation import Explanation

#: Prefix of the names of preflight checks.
LIVE = "live-"
Name = Annotated[
    str | None, typer.Argument(metavar="RULE", help="Rule name, in brackets in the output of check; default: list all.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


def explain(rule: Name = None, form: Form = Format.TEXT) -> None:
    """Explain a rule of `check` with an example. Without a name, list the rules. Exit status 2 for an unknown rule."""
    from landbridge.rules.explanation import explanations

    rules = explanations() if rule is not None and not rule.startswith(LIVE) else {**explanations(), **_live()}
    if rule is None:
        if form is Format.JSON:
            print_json([_data(entry) for entry in rules.values()])
            return
        width = max(len(name) for name in rules)
        topic = None
        for entry in rules.values():
            if entry.topic != topic:
                typer.echo(f"{'' if topic is None else chr(10)}{entry.topic}")
                topic = entry.topic
            typer.echo(f"  {entry.name:{width}}  {entry.summary}")
        return
    requested = rules.get(rule.strip("[]"))
    if requested is None:
        near = did_you_mean(rule, rules)
        hint = f'did you mean "{near}"?' if near else "`landbridge explain` lists them"
        print(f'there is no rule "{rule}"; {hint}', file=sys.stderr)
        raise typer.Exit(2)
    if form is Format.JSON:
        print_json(_data(requested))
    else:
        typer.echo("\n".join(requested.lines()))


def _live() -> "dict[str, Explanation]":
    """Return the checks of preflight; loaded on demand, because they import boto3."""
    from landbridge.live.preflight.registry import CHECKS
    from landbridge.rules.explanation import Explanation, with_examples
    from landbridge.rules.registry import paragraphs

    return {
        name: with_examples(
            Explanation(name, "preflight", entry.summary, paragraphs(entry.why), entry.source, True, "preflight", ())
        )
        for name, entry in CHECKS.items()
    }


def _data(explanation: "Explanation") -> dict[str, Any]:
    return {
        "rule": explanation.name,
        "topic": explanation.topic,
        "summary": explanation.summary,
        "why": explanation.why,
        "source": explanation.source,
        "suppressible": explanation.suppressible,
        "where": explanation.where,
        "examples": [
            {"mistake": e.title, "written": e.written, "says": e.says, "fix": e.fix} for e in explanation.examples
        ],
    }
