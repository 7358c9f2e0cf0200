"""`landbridge sandbox …`: commands of the lab, which runs both sites on one machine."""

import json
import os
from typing import Annotated

import typer

app = typer.Typer(help="Lab: on-prem hosts and an emulated AWS on this machine.", no_args_is_help=True)

Stack = Annotated[str, typer.Option("-s", "--stack", help="The environment to build, by name.")]


@app.callback()
def _sandbox() -> None:
    """Commands of the lab; they need root. Without root, `make demo` runs its embedded level."""


def _say(line: str) -> None:
    typer.echo(f"  {line}", err=True)


def _fail(error: Exception) -> typer.Exit:
    typer.echo(f"error: {error}", err=True)
    return typer.Exit(2)


@app.command()
def up(stack: Stack = "sandbox") -> None:
    """Start the lab: networks, package cache, all on-prem hosts of the environment, the emulated AWS. Repeatable.

    Example: landbridge sandbox up && eval "$(landbridge sandbox env)" && landbridge up -s sandbox
    """
    from sandbox.nspawn import from_environment, lab
    from sandbox.nspawn.errors import LabError
    from sandbox.nspawn.layout import layout
    from sandbox.session import ensure_cloud

    try:
        booted = lab.up(layout(), from_environment.site(stack), _say)
        cloud = ensure_cloud(layout(), from_environment.environment(stack))
    except LabError as error:
        raise _fail(error) from None
    typer.echo(f"the lab is up; booted now: {', '.join(booted) or 'none, all were running'}; AWS at {cloud.endpoint}")


@app.command()
def env(stack: Stack = "sandbox") -> None:
    """Print the shell variables for `landbridge up`, `pulumi` and `landbridge configure` against the sandbox.

    Example: eval "$(landbridge sandbox env)"
    """
    import shlex

    from sandbox.nspawn import from_environment
    from sandbox.nspawn.errors import LabError
    from sandbox.nspawn.layout import layout
    from sandbox.session import command_variables, running_cloud

    try:
        environment = from_environment.environment(stack)
        cloud = running_cloud(layout())
        if cloud is None:
            raise LabError("the emulated AWS does not run", "landbridge sandbox up")
    except LabError as error:
        raise _fail(error) from None
    for name, value in sorted(command_variables(cloud, environment.name).items()):
        if os.environ.get(name) != value:
            typer.echo(f"export {name}={shlex.quote(value)}")


@app.command()
def down(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the nodes' disks for the next `up`.")] = False,
    images: Annotated[bool, typer.Option("--images", help="Remove the caches of images and packages as well.")] = False,
) -> None:
    """Stop and remove the lab: every process, mount, namespace and control group, also after a crash."""
    from sandbox.nspawn import cleanup
    from sandbox.nspawn.errors import LabError
    from sandbox.nspawn.layout import layout

    try:
        cleanup.down(layout(), _say, keep_nodes=keep)
        if images:
            cleanup.remove_caches(layout())
    except LabError as error:
        raise _fail(error) from None
    typer.echo("the lab is down")


@app.command()
def reset(names: Annotated[list[str], typer.Argument(metavar="NODE...")], stack: Stack = "sandbox") -> None:
    """Delete nodes and boot new ones in their place."""
    from sandbox.nspawn import from_environment, lab
    from sandbox.nspawn.errors import LabError
    from sandbox.nspawn.layout import layout
    from sandbox.nspawn.machine import nodes

    try:
        for name in names:
            nodes.destroy(layout(), name)
        lab.up(layout(), from_environment.site(stack), _say)
    except LabError as error:
        raise _fail(error) from None


@app.command()
def status(format: Annotated[str, typer.Option(help="text or json")] = "text") -> None:
    """Show the lab's nodes, their state, and their use of memory and CPU."""
    from sandbox.nspawn import report
    from sandbox.nspawn.layout import layout

    rows = report.rows(layout())
    if format == "json":
        typer.echo(json.dumps([row.__dict__ for row in rows], indent=1))
        return
    if not rows:
        typer.echo("there are no nodes; `landbridge sandbox up` boots them")
    for row in rows:
        memory = f"{row.memory_mib:5d} MiB" if row.memory_mib is not None else "        -"
        typer.echo(f"{row.name:20} {'running' if row.running else 'stopped':8} {row.address:16} {memory}  {row.image}")


@app.command()
def shell(node: str) -> None:
    """Log in to a node."""
    _replace_with_ssh(node, [], "-t")


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def exec(node: str, command: list[str]) -> None:
    """Run a command in a node: `landbridge sandbox exec ctl01 -- sinfo -N`."""
    _replace_with_ssh(node, command[1:] if command[0] == "--" else command)


def _replace_with_ssh(name: str, command: list[str], *extra: str) -> None:
    import shlex

    from sandbox.nspawn.errors import LabError
    from sandbox.nspawn.layout import layout
    from sandbox.nspawn.machine import node
    from sandbox.nspawn.network import ssh

    lab = layout()
    try:
        words = ssh.command(lab, node.load(lab, name).address, *extra)
    except LabError as error:
        raise _fail(error) from None
    # ssh joins its words with blanks and hands them to a shell: quote them so that they arrive unchanged.
    os.execvp(words[0], [*words, *([shlex.join(command)] if command else [])])
