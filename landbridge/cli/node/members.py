"""Commands `landbridge node add` and `remove`: show, check, write and apply a change of the environment file."""

import time
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import (
    File,
    Stack,
    environment_path,
    environment_text,
    exit_code,
    near,
    print_findings,
    write_environment,
)

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.ops.members import Edited

Hosts = Annotated[str, typer.Argument(help="Slurm host list: dgx03, or dgx[03-04].", metavar="NODES")]
Write = Annotated[bool, typer.Option("--write", help="Change the environment file.")]
Run = Annotated[bool, typer.Option("--run", help="Change the environment file, then the cluster.")]
Address = Annotated[
    str | None, typer.Option("--address", help="Address of the first node; the others get the following addresses.")
]
Last = Annotated[str | None, typer.Option("--address", help="Address of the node, if the file no longer contains it.")]
Platform = Annotated[
    str | None, typer.Option("--platform", help="Platform: dgx-h100, ... Default: that of similar nodes.")
]
Rack = Annotated[str | None, typer.Option("--rack", help="Rack, for the switch. Default: that of similar nodes.")]
System = Annotated[
    str | None,
    typer.Option(
        "--os", help="Operating system: ubuntu-24.04, ... Default: that of similar nodes, as for the platform."
    ),
]
Tags = Annotated[str | None, typer.Option("--tags", "-t", help="With --run: only tasks with these tags.")]
Skip = Annotated[
    bool, typer.Option("--gone", help="Do not configure the host, because it is broken or no longer exists.")
]


def register(node: typer.Typer) -> None:
    """Add the commands."""
    node.command()(add)
    node.command()(remove)


def add(
    nodes: Hosts,
    stack: Stack = None,
    file: File = None,
    address: Address = None,
    platform: Platform = None,
    rack: Rack = None,
    system: System = None,
    write: Write = False,
    run: Run = False,
    tags: Tags = None,
) -> None:
    """Add nodes to the environment file. With --run also to the cluster. Without --write or --run the change is only
    shown.
    """
    from landbridge.environment.file.members import Joining
    from landbridge.ops.members import ADD, add_limit, added

    path = near(environment_path(stack, file))
    joining = Joining(names=_names(nodes), address=_address(address), platform=platform, rack=rack, os=system)
    edited = added(path, environment_text(path), joining)
    environment = _shown(edited)
    limit = add_limit(environment, edited.names)
    _networks(edited, environment)
    if not (write or run):
        typer.echo(f"nothing is written; --write changes the file, --run configures {nodes} too, with")
        typer.echo(f"  ansible-playbook -i {path} {ADD} --limit {limit}")
        return
    _written(edited)
    if run:
        _run(environment, path, ADD, limit=limit, tags=tags)


def remove(
    nodes: Hosts,
    stack: Stack = None,
    file: File = None,
    skip_host: Skip = False,
    address: Last = None,
    write: Write = False,
    run: Run = False,
) -> None:
    """Remove drained nodes from the environment file. With --run also from the cluster; no job is terminated."""
    from landbridge.cli.node.common import rows, scontrol_of
    from landbridge.ops.members import REMOVE, reasons_to_stay, removed

    path, names = near(environment_path(stack, file)), _names(nodes)
    if address is not None and len(names) > 1:
        raise typer.BadParameter("it applies to one node only", param_hint="--address")
    last = _address(address)
    edited = removed(path, environment_text(path), names)
    addresses = {**edited.addresses, **({names[0]: str(last)} if last else {})}
    environment = _shown(edited)
    if not (write or run):
        typer.echo(f"nothing is written; --write changes the file, --run removes {nodes} from the cluster too")
        return
    refused = reasons_to_stay(rows(scontrol_of(stack, file)), names)
    for reason in refused:
        typer.echo(f"landbridge: {reason}", err=True)
    if refused:
        raise typer.Exit(1)
    _written(edited)
    for name in names if run else ():
        variables = {} if skip_host or name not in addresses else {"node_address": addresses[name]}
        _run(environment, path, REMOVE, variables={"node": name, **variables})


def _names(nodes: str) -> tuple[str, ...]:
    from landbridge import hostlist

    try:
        return tuple(dict.fromkeys(hostlist.expand(nodes)))
    except hostlist.HostlistError as error:
        raise typer.BadParameter(error.reason, param_hint="NODES") from None


def _address(text: str | None) -> IPv4Address | None:
    try:
        return None if text is None else IPv4Address(text)
    except AddressValueError:
        raise typer.BadParameter(f"{text} is not an IPv4 address", param_hint="--address") from None


def _shown(edited: "Edited") -> "Environment":
    """Print the change; exit if the changed file would have errors."""
    from landbridge.findings import has_errors
    from landbridge.rules import check

    loaded = edited.loaded()
    findings = check(loaded)
    typer.echo(edited.difference or f"{edited.path} is unchanged", nl=not edited.difference)
    print_findings(edited.findings)
    if has_errors(findings) or loaded.environment is None:
        print_findings(findings)
        raise typer.Exit(exit_code(findings))
    return loaded.environment


def _networks(edited: "Edited", after: "Environment") -> None:
    """Print new networks, which firewalls of other hosts must permit first: their rules contain networks of nodes."""
    from landbridge.environment.file.load import load_text
    from landbridge.ops.members import new_networks

    before = load_text(edited.before, edited.path).environment
    for network in new_networks(before, after) if before is not None else ():
        typer.echo(
            f"no node has been in {network} yet: first use --write, and run landbridge configure --tags hardening"
        )


def _written(edited: "Edited") -> None:
    if edited.after == edited.before:
        return
    write_environment(edited.path, edited.after)
    typer.echo(f"{edited.path} is written")


def _run(
    environment: "Environment",
    path: Path,
    playbook: Path,
    limit: str | None = None,
    tags: str | None = None,
    variables: dict[str, str] | None = None,
) -> None:
    from landbridge.cli.common import Format
    from landbridge.cli.configure import report
    from landbridge.cli.display.configure import ConfigureDisplay
    from landbridge.realise import configure as realise

    started = time.monotonic()
    with ConfigureDisplay(environment.name) as show:
        result = realise.configure(
            environment, path, show, playbook=playbook, limit=limit, tags=tags, variables=variables
        )
    report(result, time.monotonic() - started, Format.TEXT)
