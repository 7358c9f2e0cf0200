"""Shared code of the commands: options, the environment's buckets, credentials, confirmation and output."""

import contextlib
import getpass
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from landbridge.cli.common import Format, load, print_findings, print_json, require

if TYPE_CHECKING:
    from landbridge.aws_api.objects import DataAccess, ObjectBucket
    from landbridge.catalog.aws.datasets import DatasetFacts
    from landbridge.environment import Environment
    from landbridge.environment.base import Site
    from landbridge.findings import Finding
    from landbridge.live.datasets import TransferLedger
    from landbridge.plan.cost.dataset_transfer import TransferAmounts, TransferCost
    from landbridge.plan.outputs import StackOutputs

Reference = Annotated[str, typer.Argument(metavar="NAME[:VERSION]", help="Dataset; without a version the newest one.")]
ClassOption = Annotated[str | None, typer.Option("--class", metavar="CLASS", help="Data class of the dataset.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for a confirmation of the price.")]
Limit = Annotated[
    float | None, typer.Option("--limit", metavar="MBIT", min=0.01, help="Bandwidth limit in Mbit/s; default: none.")
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, max=256, help="Number of concurrent requests.")]
Outputs = Annotated[
    Path | None, typer.Option("--outputs", metavar="FILE", help="Stack outputs; default: those of `landbridge up`.")
]
Profile = Annotated[str | None, typer.Option("--profile", metavar="NAME", help="Profile; default: mover.")]
Credentials = Annotated[
    Path | None,
    typer.Option("--credentials", metavar="FILE", help="Credentials file; default: that of the storage host."),
]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", metavar="FILE", help="Ledger of transfers; default: in the state folder.")
]
#: Profile of the role `mover` in a credentials file.
MOVER = "mover"


@dataclass(frozen=True)
class DataCommand:
    """Environment, stack outputs and credentials of a command."""

    environment: "Environment"
    outputs: "StackOutputs"
    access: "DataAccess"
    facts: "DatasetFacts"
    located: Callable[["Finding"], "Finding"]

    def bucket(
        self,
        data_class: str,
        *,
        workers: int | None = None,
        limit: float | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> "ObjectBucket":
        """Return the bucket of a data class. Prints the finding and exits if the class has none."""
        from landbridge.aws_api.objects import TransferRate
        from landbridge.findings import Finding
        from landbridge.plan.aws.storage.dataset_place import hub_buckets

        name = hub_buckets(self.environment, self.outputs).get(data_class)
        if name is None:
            message = f"the stack outputs have no bucket of class {data_class}"
            refuse([Finding("dataset-bucket", message, fix="run `landbridge up`, and give its outputs")])
        rate = TransferRate(None if limit is None else limit * 1e6 / 8)
        return self.access.bucket(name, workers or self.facts.workers.value, rate, progress)

    def require_class(self, data_class: str, site: "Site" = "aws") -> None:
        """Print the finding and exit if data of a class may not be at a site."""
        from landbridge.plan.aws.storage.dataset_place import class_fault

        fault = class_fault(self.environment, data_class, site)
        if fault is not None:
            refuse([self.located(fault)])

    def require_mover(self) -> None:
        """Print the finding and exit if the credentials do not belong to the role `mover`. Raises AwsRefusal."""
        from landbridge.plan.aws.storage.dataset_place import mover_fault

        fault = mover_fault(self.outputs, self.access.caller())
        if fault is not None:
            refuse([fault])

    def cost(self, amounts: "TransferAmounts", site: "Site") -> "TransferCost":
        """Return the cost of a transfer."""
        from landbridge.plan.cost.dataset_transfer import transfer_cost

        return transfer_cost(self.environment, amounts, site)


def open_command(
    stack: str | None,
    file: Path | None,
    outputs: Path | None = None,
    profile: str | None = MOVER,
    credentials: Path | None = None,
) -> DataCommand:
    """Return environment, outputs and credentials. Prints the errors and exits if one cannot be read."""
    from landbridge.aws_api.objects import DataAccess
    from landbridge.catalog.aws.datasets import datasets
    from landbridge.findings import Finding
    from landbridge.paths import outputs_file
    from landbridge.plan.fips import fips_services
    from landbridge.plan.outputs import StackOutputs
    from landbridge.plan.roles.hosts.roles_anywhere import ROOT_FILE

    environment = require(stack, file)
    path = outputs or outputs_file(environment.name)
    try:
        stack_outputs = StackOutputs.model_validate_json(path.read_text())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it has no stack outputs"
        fix = "run `landbridge up`, or copy its outputs.json to this host and give it with --outputs"
        refuse([Finding("dataset-outputs", f"{path}: {reason}", fix=fix)], status=2)
    if profile is not None and credentials is None and Path(ROOT_FILE).exists():
        credentials = Path(ROOT_FILE)
    endpoints = environment.aws.endpoints
    access = DataAccess(
        environment.region,
        endpoints.onprem or endpoints.operator,
        profile,
        None if credentials is None else str(credentials),
        "s3" in fips_services(environment),
    )
    return DataCommand(environment, stack_outputs, access, datasets(), lambda finding: load(stack, file).place(finding))


def site_of(environment: "Environment") -> "Site":
    """Return the site at which commands run: on-prem if there is one."""
    return "aws" if environment.onprem is None else "onprem"


def refuse(findings: "Iterable[Finding]", status: int = 1) -> NoReturn:
    """Print findings, and exit."""
    print_findings(findings)
    raise typer.Exit(status)


@contextlib.contextmanager
def aws_failures(subject: str) -> Iterator[None]:
    """Print the finding of a failed AWS call or of a file that cannot be read or written, and exit with status 2."""
    from landbridge.aws_api.refusal import AwsRefusal, finding_of

    try:
        yield
    except AwsRefusal as refused:
        refuse([finding_of(refused, subject)], status=2)
    except OSError as error:
        typer.echo(f"landbridge: {error.filename or subject}: {error.strerror or error}", err=True)
        raise typer.Exit(2) from None


def confirm(cost: "TransferCost", *, yes: bool, form: Format) -> None:
    """Print the price before a transfer, and ask for a confirmation."""
    if form is Format.TEXT:
        print_cost(cost, "at most ", err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        typer.echo("a transfer costs money: pass --yes if there is no terminal for a confirmation", err=True)
        raise typer.Exit(2)
    typer.confirm("Transfer this?", abort=True, err=True)


def print_cost(cost: "TransferCost", prefix: str = "", *, err: bool = False) -> None:
    """Print the charges with the dates of their prices, and the sums."""
    for charge in cost.charges:
        per = " a month" if charge.monthly else ""
        amount = usd(charge.usd) + per if charge.usd is not None else "unknown"
        dated = f"price of {charge.as_of}" if charge.as_of is not None else charge.source
        typer.echo(f"  {amount:>22}  {charge.description} ({dated})", err=err)
    least = "at least " if cost.at_least else prefix
    text = f"{least}{usd(cost.total(monthly=False))} for the transfer"
    if any(charge.monthly for charge in cost.charges):
        text += f", {usd(cost.total(monthly=True))} a month of storage"
    typer.echo(text, err=err)


def usd(amount: tuple[float, float]) -> str:
    """Return an amount of US dollars; with a lowest and a highest price, both."""
    low, high = (f"${value:,.4f}" if value < 1 else f"${value:,.2f}" for value in amount)
    return low if low == high else f"{low} to {high}"


def open_ledger(environment: "Environment", path: Path | None) -> "TransferLedger":
    """Return the ledger of transfers."""
    from landbridge.live.datasets import TransferLedger
    from landbridge.paths import state_dir

    return TransferLedger(path or state_dir(environment.name) / "data-ledger.jsonl")


def caller_facts() -> dict[str, str]:
    """Return user and host of this process for the ledger; with sudo the user who called it."""
    return {"user": os.environ.get("SUDO_USER") or getpass.getuser(), "host": socket.gethostname()}


def report(data: dict[str, Any], cost: "TransferCost", text: str, form: Format) -> None:
    """Print the result of a transfer and its cost."""
    if form is Format.JSON:
        print_json({**data, "cost": cost.to_dict()})
    else:
        typer.echo(text)
        print_cost(cost)
