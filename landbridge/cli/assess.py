"""Command `landbridge assess`: recommend an architecture for an organisation."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import Format, exit_code, print_findings, print_json
from landbridge.findings import Finding, FindingsError, Severity

if TYPE_CHECKING:
    from landbridge.catalog.assessment import Question
    from landbridge.economics.assessment.answers import Answers
    from landbridge.economics.assessment.answers_file import AnswersFile
    from landbridge.economics.assessment.assess import Assessment

AnswersPath = Annotated[
    Path | None, typer.Argument(metavar="[ANSWERS.yaml]", help="File with answers; without it, prompts on a terminal.")
]
Write = Annotated[
    str | None, typer.Option("--write", metavar="NAME", help="Write stacks/Pulumi.NAME.yaml to start with.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(assess)


def assess(file: AnswersPath = None, write: Write = None, form: Form = Format.TEXT) -> None:
    """Recommend an architecture for an organisation.

    It is cloud first, hybrid, an on-prem baseline with burst, or on-prem only; with the path to it.

    Every sentence has its figures, its rule and the dates of its prices. Makes no network call. Exit status: 0
    assessed, 1 errors in the answers, 2 could not run.
    Example: landbridge assess answers.yaml --write acme
    """
    from landbridge.economics.assessment.answers_file import AnswersFile, read_answers
    from landbridge.economics.assessment.assess import assess as assessed
    from landbridge.economics.assessment.assess import report

    if file is not None:
        try:
            outcome = read_answers(file.read_bytes(), str(file))
        except OSError as error:
            reason = error.strerror or str(error)
            finding = Finding("unreadable-file", f"cannot read it: {reason}").at(str(file), 1, 1)
            outcome = AnswersFile(None, (finding,))
    else:
        outcome = _prompted()
    if outcome.answers is None:
        if form is Format.JSON:
            print_json({"findings": [finding.to_dict() for finding in outcome.findings]})
        else:
            print_findings(outcome.findings)
        raise typer.Exit(exit_code(outcome.findings))
    result = assessed(outcome.answers)
    written, findings = (None, ()) if write is None else _write(write, outcome.answers, result)
    if form is Format.JSON:
        all_findings = [finding.to_dict() for finding in (*outcome.findings, *findings)]
        print_json({**result.to_dict(), "findings": all_findings, "written": written})
    else:
        typer.echo(report(result), nl=False)
        print_findings((*outcome.findings, *findings))
        if written is not None:
            typer.echo(f"\nwrote {written}\nnext: landbridge check -s {write}, and replace the examples in the file")
    if findings:
        typer.echo(f"Pulumi.{write}.yaml was not written: it would have errors", err=True)
    raise typer.Exit(exit_code(findings))


def _prompted() -> "AnswersFile":
    """Return the answers of the prompts. Raises a usage error without a terminal."""
    from landbridge.economics.assessment.answers_file import answers_of
    from landbridge.economics.assessment.questionnaire import choices, questionnaire

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("give a file with answers, or run it on a terminal", param_hint="ANSWERS.yaml")

    def ask(question: "Question", default: str) -> str:
        known = f" ({', '.join(choices(question))})" if choices(question) else ""
        return str(typer.prompt(f"{question.ask}{known}", default=default, show_default=default != "", err=True))

    return answers_of(questionnaire(ask, lambda reason: typer.echo(f"  {reason}", err=True)))


def _write(name: str, answers: "Answers", result: "Assessment") -> tuple[Path | None, tuple[Finding, ...]]:
    """Write the environment file of the assessment, and return its path; or no path, and the errors that it would have.

    Raises FindingsError for an invalid name and for a file that exists.
    """
    from landbridge.cli.environment.new import file_exists, target_file
    from landbridge.economics.assessment.starting_file import origin_of, starting_file
    from landbridge.environment import find_environment
    from landbridge.environment.file.load import load_text
    from landbridge.rules import check

    source = find_environment(origin_of(answers, result.recommendation))
    target, begun = target_file(source, name)
    if begun is not None:
        raise FindingsError([file_exists(target)])
    text = starting_file(answers, result.recommendation, source.read_bytes().decode("utf-8-sig"))
    errors = tuple(finding for finding in check(load_text(text, target)) if finding.severity is Severity.ERROR)
    if errors:
        return None, errors
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FindingsError([file_exists(target)]) from None
    return target, ()
