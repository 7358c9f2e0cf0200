"""Command `landbridge explain`: reason, source, example and fix of a rule."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import Format, print_json
from landbridge.findings import did_you_mean

if TYPE_CHECKING:
    from landbridge.rules.explanation import Explanation

#: What the names of preflight's checks begin with.
LIVE = "live-"
Name = Annotated[
    str | None, typer.Argument(metavar="RULE", help="Rule name, in brackets in the output of check; default: list all.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


def explain(rule: Name = None, form: Form = Format.TEXT) -> None:
    """Explain a rule of `check` with an example; without a name, list the rules. Exit status 2: no such rule."""
    from landbridge.rules.explanation import explanations

    known = explanations() if rule is not None and not rule.startswith(LIVE) else {**explanations(), **_live()}
    if rule is None:
        if form is Format.JSON:
            print_json([_data(one) for one in known.values()])
            return
        width = max(len(name) for name in known)
        topic = None
        for one in known.values():
            if one.topic != topic:
                typer.echo(f"{'' if topic is None else chr(10)}{one.topic}")
                topic = one.topic
            typer.echo(f"  {one.name:{width}}  {one.summary}")
        return
    found = known.get(rule.strip("[]"))
    if found is None:
        near = did_you_mean(rule, known)
        hint = f'did you mean "{near}"?' if near else "`landbridge explain` lists them"
        print(f'there is no rule "{rule}"; {hint}', file=sys.stderr)
        raise typer.Exit(2)
    if form is Format.JSON:
        print_json(_data(found))
    else:
        typer.echo("\n".join(found.lines()))


def _live() -> "dict[str, Explanation]":
    """Return the checks of preflight; loaded on demand, because they import AWS's SDK."""
    from landbridge.live.preflight.registry import CHECKS
    from landbridge.rules.explanation import Explanation, with_examples
    from landbridge.rules.registry import paragraphs

    return {
        name: with_examples(
            Explanation(name, "preflight", one.summary, paragraphs(one.why), one.source, True, "preflight", ())
        )
        for name, one in CHECKS.items()
    }


def _data(one: "Explanation") -> dict[str, Any]:
    return {
        "rule": one.name,
        "topic": one.topic,
        "summary": one.summary,
        "why": one.why,
        "source": one.source,
        "suppressible": one.suppressible,
        "where": one.where,
        "examples": [{"mistake": e.title, "written": e.written, "says": e.says, "fix": e.fix} for e in one.examples],
    }
