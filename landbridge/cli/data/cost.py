"""Command `landbridge data cost`: the price of a transfer before it, or of those in the ledger."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.data import common
from landbridge.cli.data.common import ClassOption, Credentials, Form, LedgerFile, Outputs, Profile

if TYPE_CHECKING:
    from landbridge.live.datasets import TransferLedger

Dataset = Annotated[
    str | None, typer.Argument(metavar="[NAME[:VERSION]]", help="Price of staging this dataset into an empty store.")
]
Source = Annotated[Path | None, typer.Option("--put", metavar="SRC", help="Price of putting this folder.")]


def register(data: typer.Typer) -> None:
    """Add the command."""
    data.command()(cost)


def cost(
    dataset: Dataset = None,
    source: Source = None,
    data_class: ClassOption = None,
    stack: Stack = None,
    file: File = None,
    outputs: Outputs = None,
    profile: Profile = common.MOVER,
    credentials: Credentials = None,
    ledger_file: LedgerFile = None,
    form: Form = Format.TEXT,
) -> None:
    """Price a transfer at dated prices: requests, traffic and storage. Without a dataset: sum up the ledger.

    Exit status: 0; 1 findings, or the price of an item is unknown; 2 AWS did not answer.

    Example: landbridge data cost corpus:2026-11 -s example
    """
    from landbridge.cli.data.find import find
    from landbridge.datasets import plan_blocks
    from landbridge.findings import has_errors
    from landbridge.live.datasets import scan
    from landbridge.plan.cost.dataset_transfer import TransferAmounts

    command = common.open_command(stack, file, outputs, profile, credentials)
    if dataset is not None and source is not None:
        raise typer.BadParameter("give a dataset or --put, not both")
    if source is not None:
        if data_class is not None:
            command.require_class(data_class)
        files, findings = scan(source)
        if has_errors(findings):
            common.refuse(findings)
        blocks = len(plan_blocks([(each.path, each.size) for each in files], command.facts.block_bytes))
        total = sum(each.size for each in files)
        amounts = TransferAmounts(writes=blocks + 3, reads=blocks + 2, bytes_in=total, stored=total)
    elif dataset is not None:
        with common.aws_failures(f"dataset {dataset}"):
            command.require_mover()
            blocks_by_digest = find(command, dataset, data_class)[1].content.unique_blocks
        amounts = TransferAmounts(reads=len(blocks_by_digest) + 1, bytes_out=sum(blocks_by_digest.values()))
    else:
        _show_ledger(common.open_ledger(command.environment, ledger_file), form)
        return
    price = command.cost(amounts, common.site_of(command.environment))
    if form is Format.JSON:
        print_json(price.to_dict())
    else:
        common.print_cost(price)
    raise typer.Exit(1 if price.at_least else 0)


def _show_ledger(ledger: "TransferLedger", form: Format) -> None:
    """Print the ended transfers of the ledger by month and class, and the number of those that were interrupted."""
    begun: dict[str, dict[str, Any]] = {}
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in ledger.lines():
        first = (
            begun.setdefault(line["transfer"], line) if line["event"] == "begin" else begun.pop(line["transfer"], None)
        )
        if line["event"] == "begin" or first is None:
            continue
        key = (line["time"][:7], first["data_class"], first["command"])
        row = rows.setdefault(key, {"transfers": 0, "bytes": 0, "usd": [0.0, 0.0], "unpriced": 0})
        row["transfers"] += 1
        row["bytes"] += line.get("sent_bytes", 0) + line.get("read_bytes", 0)
        # The mover writes one price, the highest; None: unknown.
        price = line["cost"]["usd"] if "cost" in line else [line.get("usd", first.get("usd"))] * 2
        if None in price:
            row["unpriced"] += 1
            continue
        row["usd"] = [before + value for before, value in zip(row["usd"], price, strict=True)]
    if form is Format.JSON:
        names = ("month", "data_class", "command")
        listed = [{**dict(zip(names, key, strict=True)), **row} for key, row in sorted(rows.items())]
        print_json({"transfers": listed, "interrupted": list(begun.values())})
        return
    for (month, data_class, command), row in sorted(rows.items()):
        amount = common.usd((row["usd"][0], row["usd"][1]))
        amount = f"at least {amount}, {row['unpriced']} of unknown price" if row["unpriced"] else amount
        typer.echo(
            f"{month} {data_class:14} {command:6} {row['transfers']:>6} transfers {row['bytes']:>18,} bytes {amount}"
        )
    typer.echo(f"{ledger.path}: {len(begun) or 'no'} transfer{'s' * (len(begun) != 1)} without an end")
