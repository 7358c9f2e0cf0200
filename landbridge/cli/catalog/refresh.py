"""Command `landbridge catalog refresh`: compare the catalogue with EC2."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import Format
from landbridge.cli.display.differences import print_differences

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Regions = Annotated[list[str], typer.Option("--region", "-r", help="Region to query; repeat for several.")]
Write = Annotated[
    bool, typer.Option("--write", help="Write zones, purchase options and network cards to the catalogue.")
]
Folder = Annotated[Path | None, typer.Option("--into", help="Folder of another catalogue to write to.")]
Known = Annotated[bool, typer.Option("--known", help="Also show differences that differences.yaml explains.")]


def register(catalog: typer.Typer) -> None:
    """Add the command."""
    catalog.command()(refresh)


def refresh(
    region: Regions = ["us-east-1"],  # noqa: B006  (typer requires a list as default)
    write: Write = False,
    into: Folder = None,
    show_known: Known = False,
    form: Form = Format.TEXT,
) -> None:
    """Query EC2 for instance types and offerings, and show differences. Exit status: 0 none, 1 some, 2 AWS did not
    answer.

    With --write, zones, purchase options and network cards are written, with the date and the queried regions; review
    the change in version control before you commit it. Other facts must be changed manually.

    Example: landbridge catalog refresh --region us-east-1 --region us-west-2
    """
    from datetime import UTC, datetime
    from importlib.resources import files

    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_api.refusal import AwsRefusal, finding_of
    from landbridge.catalog import CatalogueError
    from landbridge.catalog.aws.instances import Instances
    from landbridge.catalog.differences import explanation
    from landbridge.cli.common import print_findings
    from landbridge.live.refresh import describe, review
    from landbridge.live.rewrite import write as rewrite

    folder = into if into is not None else Path(str(files("landbridge.catalog")))
    try:
        ours = Instances(folder)
        descriptions = tuple(describe(AwsClient(name), ours.families) for name in dict.fromkeys(region))
        differences = review(ours, descriptions)
        status = print_differences(differences, form, show_known=show_known)
        if write:
            # Explained differences are decisions; a refresh does not change them.
            changed = rewrite(
                folder,
                [difference for difference in differences if explanation(difference) is None],
                descriptions,
                datetime.now(UTC).date(),
            )
            typer.echo(f"written: {', '.join(changed) or 'nothing'}", err=True)
    except AwsRefusal as refused:
        print_findings([finding_of(refused, "instance types")])
        raise typer.Exit(2) from None
    except CatalogueError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(status)
