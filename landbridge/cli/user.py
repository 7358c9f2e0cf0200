"""Group `landbridge user`: people with an account."""

from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import (
    File,
    FindingsError,
    Format,
    Stack,
    environment_path,
    environment_text,
    exit_code,
    near,
    print_findings,
    print_json,
    write_environment,
)

if TYPE_CHECKING:
    from pathlib import Path

    from landbridge.environment import Environment
    from landbridge.findings import Finding
    from landbridge.ops.members import Edited

Names = Annotated[list[str], typer.Argument(help="Login names.", metavar="NAME")]
Check = Annotated[bool, typer.Option("--check", help="Show the change without making it.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    user = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Remove people who leave.")
    user.callback()(lambda: None)
    user.command()(remove)
    app.add_typer(user, name="user")


def remove(
    names: Names, stack: Stack = None, file: File = None, check: Check = False, form: Form = Format.TEXT
) -> None:
    """Remove people who leave from the environment file.

    They are removed from users, from Slurm accounts and from the rights on models; all else in the file stays. What remains to be done is printed. The changed file is checked before it is written. A name that the file does not have is an error, also after an earlier removal, and nothing is written: a person whose name was misspelt would keep the login. Exit status: 0 done, 1 errors, 2 no file to change.

    Example: landbridge user remove bob -s acme --check
    """
    from landbridge.ops.leaving import leaving_steps

    people = tuple(dict.fromkeys(names))
    try:
        path = near(environment_path(stack, file))
        edited, environment, findings = _edited(path, environment_text(path), people)
        if not check:
            write_environment(path, edited.after)
    except FindingsError as error:
        if form is Format.JSON:
            print_json({"users": people, "written": False, "findings": _data(error.findings)})
        else:
            print_findings(error.findings)
        raise typer.Exit(exit_code(error.findings)) from None
    steps = tuple(leaving_steps(environment, people, str(path), f"-s {stack}" if stack else f"-f {path}"))
    if form is Format.JSON:
        print_json(
            {
                "file": str(path),
                "users": people,
                "written": not check,
                "findings": _data(findings),
                "difference": edited.difference,
                "next": [{"message": step.message, "command": step.command} for step in steps],
            }
        )
        return
    typer.echo(edited.difference, nl=False)
    print_findings(findings)
    typer.echo("nothing is written; without --check it would be" if check else f"{path} is written")
    typer.echo("next:")
    for number, step in enumerate(steps, start=1):
        typer.echo(f"{number:>3}. {step.message}\n     {step.command}")


def _edited(path: "Path", text: str, names: tuple[str, ...]) -> "tuple[Edited, Environment, tuple[Finding, ...]]":
    """Return the change with its environment and new findings. Raises FindingsError if the file would have errors."""
    from landbridge.environment.file.load import load_text
    from landbridge.environment.file.users import without_users
    from landbridge.findings import has_errors
    from landbridge.ops.members import Edited
    from landbridge.rules import check

    after, mentions = without_users(text, str(path), names)
    edited = Edited(path, text, after, names, {})
    loaded = edited.loaded()
    findings = check(loaded)
    if has_errors(findings) or loaded.environment is None:
        raise FindingsError(findings)
    present = {(finding.rule, finding.message) for finding in check(load_text(text, path))}
    new = tuple(finding for finding in findings if (finding.rule, finding.message) not in present)
    return edited, loaded.environment, (*mentions, *new)


def _data(findings: "tuple[Finding, ...]") -> list[dict[str, object]]:
    return [finding.to_dict() for finding in findings]
