"""Command `landbridge doctor`: list the commands that this machine can run, and missing requirements of the others."""

from typing import Annotated

import typer

from landbridge.cli.common import Format, print_json

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(form: Form = Format.TEXT) -> None:
    """List the programs that this machine lacks. Exit status: always 0."""

    from landbridge.ops.doctor import diagnose

    needs = diagnose()
    commands = list(dict.fromkeys(item.command for item in needs))
    if form is Format.JSON:
        print_json(
            {
                command: {
                    "ready": all(item.met for item in needs if item.command == command),
                    "needs": [item.to_dict() for item in needs if item.command == command],
                }
                for command in commands
            }
        )
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for command in commands:
        missing = [item for item in needs if item.command == command and not item.met]
        line = Text(f"{command}: ")
        console.print(line.append("missing", style="bold yellow") if missing else line.append("ready", style="green"))
        for item in missing:
            console.print(f"    {item.need}: {item.result}; {item.fix}", markup=False)
