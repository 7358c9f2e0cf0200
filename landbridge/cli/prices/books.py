"""Files of price books: the catalogue's, or the one of `--file`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from landbridge.plan.price_book import PriceBook

BookFile = Annotated[
    Path | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="Price book of the organisation; default: the catalogue's prices.yaml."
    ),
]


def shipped_path() -> Path:
    """Return the path of the catalogue's price book."""
    from importlib.resources import files

    return Path(str(files("landbridge.catalog"))) / "prices.yaml"


def load_book(path: Path) -> "PriceBook":
    """Return the book of a file. Ends the command with exit status 2 if the file cannot be read."""
    from landbridge.plan.price_book import read_book

    try:
        text = path.read_bytes()
    except OSError as error:
        typer.echo(f"landbridge: {path}: {error.strerror or error}", err=True)
        raise typer.Exit(2) from None
    return read_book(text, str(path))
