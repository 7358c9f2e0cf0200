"""Printer for differences between the catalogue and another source."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from landbridge.cli.common import Format, print_json

if TYPE_CHECKING:
    from landbridge.catalog.compare import Difference


def print_differences(differences: "Iterable[Difference]", form: Format, *, show_known: bool = False) -> int:
    """Print differences and return the exit status: 1 if differences.yaml does not explain one of them."""
    from landbridge.catalog.differences import explanation

    explained = [(difference, explanation(difference)) for difference in differences]
    shown = [(difference, why) for difference, why in explained if show_known or why is None]
    if form is Format.JSON:
        print_json([{**difference.to_dict(), "known": why.why if why else None} for difference, why in shown])
    for difference, why in shown if form is Format.TEXT else ():
        typer.echo(
            f"{difference.subject:<20} {difference.fact:<24} {_value(difference.ours)} -> {_value(difference.theirs)}"
        )
        if why is not None:
            typer.echo(f"{'':<20} known, right: {why.right}. {why.why}")
    new = sum(why is None for _, why in explained)
    if form is Format.TEXT:
        hidden = len(explained) - len(shown)
        hidden_text = f", and {hidden} that are known (--known shows them)" if hidden else ""
        typer.echo(f"{new or 'no'} difference{'s' * (new != 1)}{hidden_text}", err=True)
    return 1 if new else 0


def _value(value: object) -> str:
    return (
        "nothing" if value is None else ",".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)
    )
