"""Command `landbridge prices show`: prices of an item, with their history."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import Format, print_json
from landbridge.cli.prices.books import BookFile, load_book, shipped_path

if TYPE_CHECKING:
    from landbridge.plan.price_book import PriceChange

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="An instance type, or another item: p5.48xlarge, nat_gateway.")
]
Place = Annotated[str | None, typer.Option("--region", "-r", help="Only this region, or this availability zone by id.")]
All = Annotated[bool, typer.Option("--history", help="Also show older prices, newest first.")]


def register(prices: typer.Typer) -> None:
    """Add the command."""
    prices.command()(show)


def show(name: Name, region: Place = None, older: All = False, file: BookFile = None, form: Form = Format.TEXT) -> None:
    """Show the dated prices of an item, with their sources.

    The change is that from the previous price of the same region. Exit status: 0, or 2 if no price is known.

    Example: landbridge prices show p5.48xlarge --region us-east-1 --history
    """
    from landbridge.findings import did_you_mean
    from landbridge.plan.price_book import history

    book = load_book(file or shipped_path())
    changes = history(book.prices, name, region)
    if not changes:
        names = {price.name for price in book.prices}
        near = did_you_mean(name, names - {name})
        place = f" in {region}" if region is not None else ""
        hint = f'; did you mean "{near}"?' if near and name not in names else ""
        typer.echo(f'landbridge: no price of "{name}" is known{place}{hint}', err=True)
        raise typer.Exit(2)
    if not older:
        changes = tuple({change.price.item: change for change in reversed(changes)}.values())[::-1]
    if form is Format.JSON:
        print_json([as_data(change) for change in changes])
        return
    for change in changes:
        price = change.price
        changed = f" ({change.change:+.1%})" if change.change is not None else ""
        item = price.kind if price.name == name else f"{price.kind} {price.name.partition(':')[2]}"
        doubt = "" if price.confidence == "primary" else f", {price.confidence}"
        typer.echo(f"{price.day or 'undated'}  {item:<14} {price.region:<14} {price.usd} per {price.unit}{changed}")
        typer.echo(f"            {price.source or 'no source'}{doubt}")


def as_data(change: "PriceChange") -> dict[str, Any]:
    """Return a price and its change as plain data."""
    price = change.price
    return {
        "kind": price.kind,
        "name": price.name,
        "region": price.region,
        "low": price.low,
        "high": price.high,
        "unit": price.unit,
        "date": price.day,
        "source": price.source,
        "confidence": price.confidence,
        "change": change.change,
    }
