"""Command `landbridge packages`: build packages that no distribution has, into a signed repository."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import Format, print_json

Version = Annotated[str, typer.Argument(help="A version of Slurm: 24.11.")]
Suite = Annotated[str, typer.Option(help="Debian release of the hosts.")]
Into = Annotated[Path, typer.Option(help="Folder of the repository; a subfolder is named by the suite.")]
Mirror = Annotated[str | None, typer.Option(help="Debian archive; default: the one of this machine's apt.")]
Source = Annotated[
    Path | None, typer.Option(help="Slurm's source archive; default: downloaded from the Debian archive.")
]
Sum = Annotated[
    str | None, typer.Option(help="SHA-256 of the source archive, for a version that is not in the catalogue.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Build packages that no distribution has, into a signed repository.")
    group.callback()(lambda: None)
    group.command()(slurm)
    app.add_typer(group, name="packages")


def slurm(
    version: Version,
    into: Into = Path("packages"),
    suite: Suite = "trixie",
    mirror: Mirror = None,
    source: Source = None,
    sha256: Sum = None,
    form: Form = Format.TEXT,
) -> None:
    """Build Slurm from its own source and packaging: no node ever needs a compiler.

    Example: landbridge packages slurm 24.11 --into /srv/www/packages

    Serve the folder by HTTP, and say so in the environment: scheduler.slurm.packaging, packages_release, packages_mirror,
    packages_key. Exit status: 0 built, 2 it could not be.
    """
    from landbridge.paths import state_dir
    from landbridge.realise.slurm_packages import PackageBuild, PackagesError, build, debian_mirror

    try:
        order = PackageBuild(version, suite, mirror or debian_mirror(), source.absolute() if source else None, sha256)
        packages = build(order, into.absolute(), state_dir("packages"), lambda line: typer.echo(line, err=True))
    except PackagesError as error:
        typer.echo(f"{error}\n  fix: {error.fix}", err=True)
        raise typer.Exit(2) from None
    if form is Format.JSON:
        print_json({"repository": str(packages), "release": order.codename, "key": str(packages / "key.asc")})
        return
    typer.echo(
        f"{packages} is a repository for apt: release {order.codename}, component main, signed by {packages / 'key.asc'}"
    )
