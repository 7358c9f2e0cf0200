"""Command `landbridge residency table`: what every point of enforcement has received for each data class."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.residency.common import checked

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(table)


def table(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Print the compiled policy of each data class.

    Columns: partitions, launches, buckets, keys, roles, MLflow. Exit status 2: the environment has errors. Example: landbridge residency table -s regulated
    """
    from landbridge.ops.residency.compiled import compiled_forms
    from landbridge.ops.residency.table import policy_table

    _, environment = checked(stack, file)
    rows = policy_table(compiled_forms(environment))
    if form is Format.JSON:
        print_json({"environment": environment.name, "classes": [row.to_dict() for row in rows]})
        return
    for row in rows:
        typer.echo(row.data_class)
        for name, entries in row.points.items():
            typer.echo(f"  {name:<22} {', '.join(entries) or 'none'}")
