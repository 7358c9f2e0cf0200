"""Command `landbridge doctor`: list the commands that this machine can run, and the missing requirements of others."""

from typing import Annotated

import typer

from landbridge.cli.common import Format, print_json

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(form: Form = Format.TEXT) -> None:
    """List, for each command, whether this machine can run it and which packages are missing. Exit status: always 0."""
    from dataclasses import asdict

    from landbridge.ops.doctor import diagnose

    needs = diagnose()
    commands = list(dict.fromkeys(item.command for item in needs))
    if form is Format.JSON:
        print_json(
            {
                command: {
                    "ready": all(item.met for item in needs if item.command == command),
                    "needs": [asdict(item) for item in needs if item.command == command],
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
            console.print(f"    {item.need}: {item.found}; {item.fix}", markup=False)
