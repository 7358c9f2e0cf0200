"""Command `landbridge new`: create an environment file from an existing one."""

import sys
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli.common import exit_code, print_findings
from landbridge.findings import Finding, FindingsError, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from landbridge.environment import Environment
    from landbridge.environment.file.fork import Begun

Name = Annotated[str, typer.Argument(metavar="NAME", help="The new environment's name.")]
Origin = Annotated[str, typer.Option("--from", metavar="ENV", help="The environment to copy.")]
Owner = Annotated[str | None, typer.Option(help="Mail address of the owner.")]
CostCenter = Annotated[str | None, typer.Option(help="Cost centre: a tag on all billed resources.")]
Region = Annotated[str | None, typer.Option(help="The AWS region; zones are chosen in it.")]
OnPremCidr = Annotated[
    str | None, typer.Option(help="CIDR of your site, also a smaller one; addresses in it are moved too.")
]
AwsCidr = Annotated[str | None, typer.Option(help="CIDR of the VPC.")]
Gateway = Annotated[str | None, typer.Option(help="Public address of your gateway.")]
Asn = Annotated[str | None, typer.Option(help="BGP AS number of your site.")]
NoInput = Annotated[bool, typer.Option("--no-input", help="Do not ask; values without an option stay as they are.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(new)


def new(
    name: Name,
    origin: Origin = "hybrid",
    owner: Owner = None,
    cost_center: CostCenter = None,
    region: Region = None,
    onprem_cidr: OnPremCidr = None,
    aws_cidr: AwsCidr = None,
    gateway_address: Gateway = None,
    asn: Asn = None,
    no_input: NoInput = False,
) -> None:
    """Copy an environment to a new name. Comments stay; your values replace the old ones.

    On a terminal it asks for the values that no option gives.
    No file is overwritten, except one that Pulumi created and that has no environment. No file is written if
    `landbridge check` would report an error.
    Example: landbridge new acme --from hybrid --owner ml@acme.com --gateway-address 192.0.2.7
    """
    from landbridge.environment import find_environment, load_environment
    from landbridge.environment.file.fork import Wanted, copied_keys, fork
    from landbridge.environment.file.load import load_text
    from landbridge.rules import check

    source = find_environment(origin)
    target, started = target_file(source, name)
    before = load_environment(source)
    if before.environment is None:
        raise FindingsError(before.findings)
    ask = not no_input and sys.stdin.isatty() and sys.stdout.isatty()
    options = {
        "owner": owner,
        "cost_center": cost_center,
        "region": region or (started.region if started else None),
        "onprem_cidr": onprem_cidr,
        "aws_cidr": aws_cidr,
        "gateway_address": gateway_address,
        "onprem_asn": asn,
    }
    new_values = Wanted(**_answers(before.environment, options, ask))
    original = source.read_bytes().decode("utf-8-sig")
    text = fork(original, new_values, origin)
    findings = check(load_text(text, target))
    if status := exit_code(findings):
        print_findings(finding for finding in findings if finding.severity is Severity.ERROR)
        typer.echo(f"{target.name} was not written: it would have errors", err=True)
        raise typer.Exit(status)
    try:
        with target.open("w" if started else "x", encoding="utf-8") as file:
            file.write(started.ends(text) if started else text)
    except FileExistsError:
        raise FindingsError([file_exists(target)]) from None
    copied = ", ".join(copied_keys(original, origin))
    typer.echo(f"wrote {target}\nreplace the values of {origin} in it: {copied}" if copied else f"wrote {target}")
    typer.echo(f"next: landbridge check -s {name}, then read the file: its comments give the reasons")


def target_file(source: Path, name: str) -> "tuple[Path, Begun | None]":
    """Return the file to write, and the settings that Pulumi has already written into it. Raises
    FindingsError for an invalid name and for an existing environment.
    """
    from pydantic import TypeAdapter, ValidationError

    from landbridge.environment.file.fork import begun
    from landbridge.environment.model import EnvironmentName

    try:
        TypeAdapter(EnvironmentName).validate_python(name)
    except ValidationError:
        fix = "up to 24 lower-case letters, digits and hyphens, a letter first"
        raise FindingsError([Finding("bad-name", f'"{name}" is not a valid name of an environment', (), fix)]) from None
    target = source.with_name(f"Pulumi.{name}.yaml")
    if not target.exists():
        return target, None
    started = begun(target.read_text(encoding="utf-8"))
    if started is None:
        raise FindingsError([file_exists(target)])
    return target, started


def file_exists(target: Path) -> Finding:
    """Return the finding for a file that would be overwritten."""
    return Finding("already-there", f"{target} already exists", (), "choose another name, or remove it first")


def _answers(origin: "Environment", options: dict[str, str | None], ask: bool) -> dict[str, Any]:
    """Return the values of the options, and on a terminal the operator's answers; parsed to their types. Raises a usage
    error for an invalid value.
    """
    current: dict[str, tuple[str, Callable[[str], Any], str]] = {
        "owner": (origin.owner, str, "owner (a mail address)"),
        "cost_center": (origin.cost_center, str, "cost center"),
        "region": (origin.region, str, "AWS region"),
    }
    if origin.onprem is not None:
        current["onprem_cidr"] = (str(origin.onprem.cidr), IPv4Network, "your site's range")
    current["aws_cidr"] = (str(origin.aws.cidr), IPv4Network, "the VPC's range")
    if origin.link is not None:
        # Addresses of two gateways are edited in the file.
        if not isinstance(origin.link.gateway_address, tuple):
            address = str(origin.link.gateway_address)
            current["gateway_address"] = (address, IPv4Address, "your gateway's address towards AWS")
        current["onprem_asn"] = (str(origin.link.onprem_asn), int, "your site's BGP number")
    inapplicable = [key for key, answer in options.items() if answer is not None and key not in current]
    if inapplicable:
        option = {"onprem_asn": "--asn"}.get(inapplicable[0], f"--{inapplicable[0].replace('_', '-')}")
        raise typer.BadParameter(f"{origin.name} has no on-prem site: omit {option}")
    answers: dict[str, Any] = {}
    for key, (value, kind, question) in current.items():
        answer = options[key]
        if answer is None and ask:
            answer = str(typer.prompt(question, default=value))
        if answer is None or answer == value:
            continue
        try:
            answers[key] = kind(answer)
        except ValueError as error:
            raise typer.BadParameter(f"{question}: {error}") from None
    return answers
