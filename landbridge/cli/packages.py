"""Command `landbridge packages`: build packages that no distribution contains, into a signed repository."""

from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli.common import Format, print_json

Version = Annotated[str, typer.Argument(help="A version of Slurm: 24.11.")]
Into = Annotated[Path, typer.Option(help="Folder of the repository; it has one suite for each system.")]
System = Annotated[
    list[str] | None,
    typer.Option(help="Operating system of hosts: debian-12, debian-13, ubuntu-24.04; repeatable. Default: all three."),
]
Architecture = Annotated[
    str | None, typer.Option(help="Processor architecture of the hosts, amd64 or arm64; default: this machine's.")
]
Mirror = Annotated[str | None, typer.Option(help="Debian archive; default: the one of this machine's apt.")]
UbuntuMirror = Annotated[str | None, typer.Option(help="Ubuntu archive; default: Ubuntu's own.")]
UbuntuKeyring = Annotated[
    Path | None, typer.Option(help="Keyring of the Ubuntu archive; default: that of the package ubuntu-keyring.")
]
Source = Annotated[
    Path | None, typer.Option(help="Slurm's source archive; default: downloaded from the Debian archive.")
]
Sum = Annotated[
    str | None, typer.Option(help="SHA-256 of the source archive, for a version that is not in the catalogue.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Build packages into a signed repository.")
    group.callback()(lambda: None)
    group.command()(slurm)
    app.add_typer(group, name="packages")


def slurm(
    version: Version,
    into: Into = Path("packages"),
    system: System = None,
    architecture: Architecture = None,
    mirror: Mirror = None,
    ubuntu_mirror: UbuntuMirror = None,
    ubuntu_keyring: UbuntuKeyring = None,
    source: Source = None,
    sha256: Sum = None,
    form: Form = Format.TEXT,
) -> None:
    """Build Slurm from SchedMD's source for every operating system.

    No node needs a compiler.

    Example: landbridge packages slurm 24.11 --into /srv/www/slurm --system ubuntu-24.04 --system debian-13

    Serve the folder by HTTP, and set in the environment: scheduler.slurm.packaging, packages_mirror, packages_key.
    Packages of other systems, architectures and releases in the folder stay. Exit status: 0 built, 2 a build failed.
    """
    from landbridge.catalog import slurm_sources
    from landbridge.paths import state_dir
    from landbridge.realise.slurm_packages import (
        KEY,
        PackageBuild,
        PackagesError,
        build,
        debian_mirror,
        host_architecture,
    )

    repository = into.absolute()
    try:
        debian = mirror or debian_mirror()
        mirrors = {name: url.rstrip("/") for name, url in (("debian", debian), ("ubuntu", ubuntu_mirror)) if url}
        keyrings = {"ubuntu": str(ubuntu_keyring.absolute())} if ubuntu_keyring else {}
        chosen = architecture or host_architecture()
        archive = source.absolute() if source else None
        requests = [
            PackageBuild(version, name, chosen, mirrors, keyrings, archive, sha256)
            for name in system or slurm_sources().systems
        ]
        suites = [request.facts.codename for request in requests]
        for request in requests:
            build(request, repository, state_dir("packages"), lambda line: typer.echo(line, err=True))
    except PackagesError as error:
        typer.echo(f"{error}\n  fix: {error.fix}", err=True)
        raise typer.Exit(2) from None
    if form is Format.JSON:
        print_json({"repository": str(repository), "suites": suites, "key": str(repository / KEY)})
        return
    typer.echo(
        f"{repository} is a repository for apt: suites {', '.join(suites)}, component main, signed by {repository / KEY}"
    )
