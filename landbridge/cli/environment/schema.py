"""Command `landbridge schema`: JSON Schema with which editors complete and check environment files."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(schema)


def schema() -> None:
    """Print a JSON Schema of environment files, for editors.

    Example: landbridge schema > stacks/environment.schema.json, and as the first line of each environment file
    "# yaml-language-server: $schema=environment.schema.json".
    """
    from landbridge.cli.common import print_json
    from landbridge.environment.file.schema import json_schema

    print_json(json_schema())
