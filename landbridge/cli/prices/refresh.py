"""Command `landbridge prices refresh`: append today's prices of AWS to a price book."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json, require
from landbridge.cli.prices.books import load_book, shipped_path

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.findings import Finding
    from landbridge.plan.price_book import BookPrice, NewPrice

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", metavar="TYPE", help="Instance type; repeatable. Default: those of the environment."),
]
Regions = Annotated[
    list[str] | None,
    typer.Option("--region", "-r", help="Region of --type; repeatable. Default: the environment's, else us-east-1."),
]
Into = Annotated[
    Path | None,
    typer.Option("--into", metavar="FILE", help="Price book to append to; default: the catalogue's prices.yaml."),
]
Dry = Annotated[bool, typer.Option("--dry-run", help="Show the changes, and write nothing.")]


def register(prices: typer.Typer) -> None:
    """Add the command."""
    prices.command()(refresh)


def refresh(
    stack: Stack = None,
    file: File = None,
    types: Types = None,
    region: Regions = None,
    into: Into = None,
    dry_run: Dry = False,
    form: Form = Format.TEXT,
) -> None:
    """Append AWS's prices of today to a price book. Older rows stay.

    On demand from the price list; spot; Savings Plans rates; and Capacity Blocks on offer. Exit status: 0 all prices are
    read, 1 some could not be, 2 AWS did not answer, or the file cannot be written.

    Example: landbridge prices refresh -s example --dry-run
    """
    from datetime import UTC, datetime

    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_api.refusal import AwsRefusal, finding_of
    from landbridge.live.prices import ask_prices
    from landbridge.plan.fips import fips_services

    environment = require(stack, file) if stack is not None or file is not None else None
    targets = _targets(environment, types or [], region or [])
    path = into or shipped_path()
    endpoint = environment.aws.endpoints.operator if environment is not None else None
    fips = fips_services(environment) if environment is not None else ()
    today = datetime.now(UTC).date()
    prices: list[NewPrice] = []
    findings: list[Finding] = []
    try:
        for name, region_types in targets.items():
            answer = ask_prices(AwsClient(name, endpoint, fips_services=fips), region_types, today)
            prices += answer.prices
            findings += answer.findings
    except AwsRefusal as refused:
        print_findings([finding_of(refused, "prices")])
        raise typer.Exit(2) from None
    changes, text = _appended(path, prices, findings)
    written = bool(changes) and not dry_run
    if written:
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            typer.echo(f"landbridge: {path}: {error.strerror or error}", err=True)
            raise typer.Exit(2) from None
    if form is Format.JSON:
        data = {"file": str(path), "written": written, "prices": [_as_data(*change) for change in changes]}
        print_json({**data, "findings": [finding.to_dict() for finding in findings]})
    else:
        _print(changes, path, written=written)
        print_findings(findings)
    raise typer.Exit(1 if findings else 0)


def environment_types(environment: "Environment") -> dict[str, list[str]]:
    """Return the instance types of an environment by region: types of pools, the controller and login hosts."""
    from landbridge.plan.instances.capacity import fallbacks
    from landbridge.plan.other_regions import other_regions

    types: dict[str, list[str]] = {}
    for region, part in {environment.region: environment, **other_regions(environment)}.items():
        services = part.aws.services
        names = [terms.instance for pool in part.aws.pools for terms in fallbacks(pool, region)]
        names += [services.controller.instance, services.login.instance] if services is not None else []
        types[region] = list(dict.fromkeys(names))
    return types


def _targets(environment: "Environment | None", types: list[str], regions: list[str]) -> Mapping[str, list[str]]:
    """Return the types to query, by region. Raises a usage error for unknown names, and if there is nothing to query."""
    from landbridge import catalog
    from landbridge.findings import did_you_mean

    for noun, names, known in (
        ("instance type", types, catalog.instances()),
        ("region", regions, catalog.regions()),
    ):
        for name in names:
            if name not in known:
                near = did_you_mean(name, known)
                hint = f'; did you mean "{near}"?' if near else ""
                raise typer.BadParameter(f'no {noun} "{name}" is known{hint}')
    if environment is None and not types:
        raise typer.BadParameter(
            "no instance type is given: write -s ENV, --file FILE or --type TYPE", param_hint="--type"
        )
    by_region = environment_types(environment) if environment is not None else {"us-east-1": []}
    selected = regions or list(by_region)
    return {name: types or by_region.get(name, []) for name in selected if types or by_region.get(name)}


def _appended(
    path: Path, prices: "list[NewPrice]", findings: "list[Finding]"
) -> "tuple[tuple[tuple[NewPrice, BookPrice | None], ...], str]":
    """Return the prices to append, and the file's new text. A price that the checks reject becomes a finding."""
    from landbridge.findings import has_errors
    from landbridge.plan.price_book import append_prices, changed_prices, check_book, read_book

    before = path.read_text(encoding="utf-8") if path.exists() else ""
    book = read_book(before, str(path))
    if before.strip() and has_errors(book.findings):
        print_findings(book.located(finding) for finding in book.findings)
        raise typer.Exit(2)
    changes = changed_prices(book, prices)
    shipped = load_book(shipped_path())
    try:
        text = append_prices(before, [price for price, _ in changes])
        appended = read_book(text, str(path))
        rejected = (
            {
                finding.path: finding
                for finding in check_book(appended, shipped, max(price.source.day for price in prices))
                if finding.rule == "price-unit"
            }
            if prices
            else {}
        )
        items = {price.item for price in appended.prices[len(book.prices) :] if price.path in rejected}
        if items:
            findings += [
                rejected[price.path] for price in appended.prices[len(book.prices) :] if price.path in rejected
            ]
            changes = tuple(change for change in changes if change[0].item not in items)
            text = append_prices(before, [price for price, _ in changes])
    except ValueError as error:
        typer.echo(f"landbridge: {path}: {error}", err=True)
        raise typer.Exit(2) from None
    return changes, text


def _print(changes: "tuple[tuple[NewPrice, BookPrice | None], ...]", path: Path, *, written: bool) -> None:
    for price, before in changes:
        old = f"{before.usd} of {before.day} -> " if before is not None else "new: "
        share = _share(price, before)
        change = f" ({share:+.1%})" if share is not None else ""
        typer.echo(f"{price.kind:<14} {price.name:<24} {price.region:<14} {old}{price.usd}{change}")
    count = len(changes)
    rows = f"{count or 'no'} price{'s' * (count != 1)}"
    typer.echo(
        f"{rows} {'appended to' if written else 'to append to'} {path}" if count else f"nothing to append to {path}"
    )


def _share(price: "NewPrice", before: "BookPrice | None") -> float | None:
    return price.high / before.high - 1 if before is not None and before.high else None


def _as_data(price: "NewPrice", before: "BookPrice | None") -> dict[str, Any]:
    return {
        "kind": price.kind,
        "name": price.name,
        "region": price.region,
        "low": price.low,
        "high": price.high,
        "unit": price.unit,
        "date": price.source.day,
        "source": price.source.title,
        "before": {"low": before.low, "high": before.high, "date": before.day} if before is not None else None,
        "change": _share(price, before),
    }
