"""Package with the programs of the acceptance ladder that no distribution contains, in the same repository."""

from collections.abc import Callable
from pathlib import Path

from landbridge.catalog.hardware.validation import validation_sources
from landbridge.realise.slurm_packages.archive import checked, fetch
from landbridge.realise.slurm_packages.build import TOOLS, PackageBuild, Recipe, build, temporary_system
from landbridge.realise.slurm_packages.errors import PackagesError

_INSIDE = Path(__file__).with_name("validation.sh")


def build_validation(request: PackageBuild, into: Path, state: Path, report: Callable[[str], None]) -> Path:
    """Build the package, add it to the repository `into`, sign it and return it. Raises PackagesError."""
    return build(request, into, state, report, Recipe(_archive, validation_command))


def validation_command(request: PackageBuild, archive: Path, output: Path) -> list[str]:
    """Return the command line of the build. Raises PackagesError for a system whose archive has no CUDA compiler. Pure."""
    sources = validation_sources()
    system = sources.systems.get(request.system)
    if system is None:
        known = ", ".join(sources.systems)
        raise PackagesError(f"the archive of {request.system} has no CUDA compiler with NCCL", f"use one of {known}")
    if request.architecture not in system.architectures:
        known = ", ".join(system.architectures)
        raise PackagesError(f"no CUDA compiler for {request.architecture} is known for this system", f"use {known}")
    arguments = (archive.name, request.facts.codename, sources.package, sources.archive.release, sources.prefix)
    texts = (sources.maintainer, ", ".join(sources.recommends))
    tools = (*TOOLS, *sources.build_packages)
    return temporary_system(request, archive, output, _INSIDE, (*arguments, *texts), tools, system.components)


def _archive(request: PackageBuild, state: Path) -> Path:
    sources = validation_sources().archive
    if request.source is not None:
        return checked(request.source, sources.sha256)
    return fetch(sources.address, sources.sha256, state / "sources")
