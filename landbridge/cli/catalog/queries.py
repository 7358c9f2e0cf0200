"""Commands `landbridge catalog list`, `show` and `diff`: facts of instance types and regions."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import Format, print_json
from landbridge.cli.display.differences import print_differences

if TYPE_CHECKING:
    from landbridge.catalog import InstanceType

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Region = Annotated[str | None, typer.Option("--region", "-r", help="Only types this region offers, with its zones.")]
Accelerator = Annotated[str | None, typer.Option("--accelerator", "-a", help="Only types with it: h100, trainium2.")]
Family = Annotated[str | None, typer.Option("--family", help="Only this family: p5, g6e.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="An instance type, or a region.")]
Other = Annotated[Path, typer.Argument(metavar="OTHER", help="A catalogue's folder, or a JSON file saved from EC2.")]


def register(catalog: typer.Typer) -> None:
    """Add the commands."""
    catalog.command("list")(list_types)
    catalog.command()(show)
    catalog.command()(diff)


def list_types(
    region: Region = None, accelerator: Accelerator = None, family: Family = None, form: Form = Format.TEXT
) -> None:
    """List instance types. Exit status: 0, or 1 if no type matches.

    Example: landbridge catalog list --accelerator h100 --region us-east-1
    """
    from landbridge.catalog import instances, offered, regions

    if region is not None and region not in regions():
        _refuse("region", region, regions())
    kinds = [
        kind
        for kind in (instances().family(family).values() if family is not None else instances().values())
        if (accelerator is None or (kind.accelerators is not None and kind.accelerators.type == accelerator))
        and (region is None or offered(kind, region))
    ]
    rows = [_row(kind, region) for kind in kinds]
    if form is Format.JSON:
        print_json(rows)
    elif not rows:
        typer.echo("no such type", err=True)
    else:
        _table(rows)
    raise typer.Exit(0 if rows else 1)


def show(name: Name, form: Form = Format.TEXT) -> None:
    """Show all facts of an instance type or a region. Exit status: 0, or 2 for an unknown name.

    Example: landbridge catalog show p6-b300.48xlarge
    """
    from landbridge.catalog import instances, regions
    from landbridge.catalog.hardware.fractional_gpus import fractional_gpus
    from landbridge.cli.display.catalog import described_region, described_type

    if name in regions():
        facts = described_region(name, regions()[name])
    elif name in instances():
        facts = described_type(instances()[name])
    elif name in fractional_gpus():
        typer.echo(f"landbridge: {fractional_gpus()[name].reason(name)}", err=True)
        raise typer.Exit(2)
    else:
        _refuse("instance type or region", name, (*regions(), *instances()))
    if form is Format.JSON:
        print_json(facts)
        return
    for fact, value in facts.items():
        for number, text in enumerate(value if isinstance(value, list) else [value]):
            typer.echo(f"{fact if number == 0 else '':<16} {text}")


def diff(
    other: Other,
    show_known: bool = typer.Option(False, "--known", help="Also show differences that differences.yaml explains."),
    form: Form = Format.TEXT,
) -> None:
    """Show differences from another source. Exit status: 0 none, 1 some, 2 if the source cannot be read.

    OTHER is the folder of another catalogue, or the output of `aws ec2 describe-instance-types`, which may also contain
    InstanceTypeOfferings by zone id. Types that EC2's output does not contain are not reported.

    Example: landbridge catalog diff us-east-1.json
    """
    from landbridge.catalog import CatalogueError, instances
    from landbridge.catalog.compare import compare, compare_catalogues
    from landbridge.catalog.describe import read_catalogue, read_saved

    try:
        if other.is_dir():
            differences = compare_catalogues(instances(), read_catalogue(other))
        else:
            saved = read_saved(other)
            differences = compare(instances(), saved.descriptions, saved.offerings, saved.zones)
    except CatalogueError as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(print_differences(differences, form, show_known=show_known))


def _row(kind: "InstanceType", region: str | None) -> dict[str, Any]:
    """Return the row of one type in a list."""
    from landbridge.catalog import zones

    accelerators = kind.accelerators
    row: dict[str, Any] = {
        "type": kind.name,
        "accelerators": f"{accelerators.count} {accelerators.type}" if accelerators else "",
        "vcpus": kind.cpus.logical,
        "memory_gib": kind.memory_mib // 1024,
        "nvme_gb": kind.nvme_gb,
        "network_gbps": kind.network_gbps,
        "cards": len(kind.cards),
        "efa": len(kind.efa_cards),
        "purchase": ",".join(kind.purchase),
    }
    return row if region is None else {**row, "zones": ",".join(kind.zones_in(zones(region))) or "not recorded"}


def _table(rows: list[dict[str, Any]]) -> None:
    """Print rows with the same keys as a table; numbers are aligned to the right."""
    cells = [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(len(name), *(len(row[column]) for row in cells)) for column, name in enumerate(rows[0])]
    numeric = [isinstance(value, (int, float)) for value in rows[0].values()]
    for row in [list(rows[0]), *cells]:
        line = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, numeric, strict=True)
        )
        typer.echo("  ".join(line).rstrip())


def _cell(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _refuse(noun: str, name: str, known_names: Iterable[str]) -> "typer.Exit":
    from landbridge.findings import did_you_mean

    near = did_you_mean(name, known_names)
    typer.echo(f'landbridge: no {noun} "{name}" is known' + (f'; did you mean "{near}"?' if near else ""), err=True)
    raise typer.Exit(2)
