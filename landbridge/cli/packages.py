"""Command `landbridge packages`: build packages that no distribution contains, into a signed repository."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import Format, print_json

if TYPE_CHECKING:
    from collections.abc import Callable

Version = Annotated[str, typer.Argument(help="Version of Slurm, such as 24.11.")]
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
ValidationSystemName = Annotated[
    list[str] | None,
    typer.Option("--system", help="Operating system of nodes: debian-13, ubuntu-24.04; repeatable. Default: both."),
]
ValidationSource = Annotated[
    Path | None, typer.Option("--source", help="Source archive of nccl-tests; default: downloaded from GitHub.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Build packages into a signed repository.")
    group.callback()(lambda: None)
    group.command()(slurm)
    group.command()(validation)
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
    from landbridge.realise.slurm_packages import build

    options = _BuildOptions(into, architecture, mirror, ubuntu_mirror, ubuntu_keyring, source, sha256)
    _build(version, tuple(system or slurm_sources().systems), options, build, form)


def validation(
    into: Into = Path("packages"),
    system: ValidationSystemName = None,
    architecture: Architecture = None,
    mirror: Mirror = None,
    ubuntu_mirror: UbuntuMirror = None,
    ubuntu_keyring: UbuntuKeyring = None,
    source: ValidationSource = None,
    form: Form = Format.TEXT,
) -> None:
    """Build nccl-tests for `landbridge validate` into a package.

    The package is landbridge-validation, for each operating system. The build needs CUDA's compiler and NCCL, from the
    archive of the operating system. Install the package on the nodes; it needs libnccl2. nvbandwidth is in DCGM 4, fio and HPL (hpcc) are packages of Debian and Ubuntu.

    Example: landbridge packages validation --into /srv/www/slurm --system ubuntu-24.04

    The folder may be that of Slurm's packages. Exit status: 0 built, 2 a build failed.
    """
    from landbridge.catalog.hardware.validation import validation_sources
    from landbridge.realise.slurm_packages import build_validation

    options = _BuildOptions(into, architecture, mirror, ubuntu_mirror, ubuntu_keyring, source, None)
    release = validation_sources().archive.release
    _build(release, tuple(system or validation_sources().systems), options, build_validation, form)


@dataclass(frozen=True)
class _BuildOptions:
    """Options that both commands have."""

    into: Path
    architecture: str | None
    mirror: str | None
    ubuntu_mirror: str | None
    ubuntu_keyring: Path | None
    source: Path | None
    sha256: str | None


def _build(
    version: str, systems: tuple[str, ...], options: _BuildOptions, builder: "Callable[..., Path]", form: Format
) -> None:
    """Build for each system, and print the repository."""
    from landbridge.paths import state_dir
    from landbridge.realise.slurm_packages import KEY, PackageBuild, PackagesError, debian_mirror, host_architecture

    repository = options.into.absolute()
    try:
        debian = options.mirror or debian_mirror()
        urls = (("debian", debian), ("ubuntu", options.ubuntu_mirror))
        mirrors = {name: url.rstrip("/") for name, url in urls if url}
        keyrings = {"ubuntu": str(options.ubuntu_keyring.absolute())} if options.ubuntu_keyring else {}
        architecture = options.architecture or host_architecture()
        archive = options.source.absolute() if options.source else None
        requests = [
            PackageBuild(version, name, architecture, mirrors, keyrings, archive, options.sha256) for name in systems
        ]
        suites = [request.facts.codename for request in requests]
        for request in requests:
            builder(request, repository, state_dir("packages"), lambda line: typer.echo(line, err=True))
    except PackagesError as error:
        typer.echo(f"{error}\n  fix: {error.fix}", err=True)
        raise typer.Exit(2) from None
    if form is Format.JSON:
        print_json({"repository": str(repository), "suites": suites, "key": str(repository / KEY)})
        return
    typer.echo(
        f"{repository} is a repository for apt: suites {', '.join(suites)}, component main, signed by {repository / KEY}"
    )
