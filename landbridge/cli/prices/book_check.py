"""Command `landbridge prices lint`: check a price book."""

from datetime import datetime
from typing import Annotated

import typer

from landbridge.cli.common import Format, print_findings, print_json
from landbridge.cli.prices.books import BookFile, load_book, shipped_path

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Day = Annotated[
    datetime | None,
    typer.Option("--date", formats=["%Y-%m-%d"], metavar="DATE", help="Day at which ages are counted; default: today."),
]


def register(prices: typer.Typer) -> None:
    """Add the command."""
    prices.command()(lint)


def lint(file: BookFile = None, day: Day = None, form: Form = Format.TEXT) -> None:
    """Check the age, sources, units and names of prices.

    Exit status: 0 no findings, 1 errors or warnings, 2 the file cannot be read. The limits and their reasons are in
    landbridge/catalog/price_checks.yaml. Example: landbridge prices lint --date 2026-12-31
    """
    from landbridge.cli.common import UNREADABLE
    from landbridge.plan.price_book import check_book

    path = file or shipped_path()
    book, shipped = load_book(path), load_book(shipped_path())
    findings = check_book(book, shipped, day.date() if day is not None else datetime.now().date())
    if form is Format.JSON:
        print_json(
            {"file": str(path), "prices": len(book.prices), "findings": [finding.to_dict() for finding in findings]}
        )
    else:
        print_findings(findings)
        count = len(findings)
        typer.echo(f"{len(book.prices)} prices, {count or 'no'} finding{'s' * (count != 1)}")
    if any(finding.rule in UNREADABLE for finding in findings):
        raise typer.Exit(2)
    raise typer.Exit(1 if findings else 0)
