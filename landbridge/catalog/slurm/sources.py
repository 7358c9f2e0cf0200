"""Source archives of Slurm, and its package names (slurm_sources.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class SlurmSource(Facts):
    """Source archive: its release, its path in a Debian archive, and its SHA-256."""

    release: str
    path: str
    sha256: str


class BuildSystem(Facts):
    """Operating system for which packages are built: its apt codename, and the archive of its build dependencies."""

    codename: str
    archive: str
    suites: tuple[str, ...]
    components: tuple[str, ...]


class BuildArchive(Facts):
    """Package archive of an operating system: mirrors by processor architecture, and the keyring that verifies it."""

    mirrors: Mapping[str, str]
    keyring: str
    keyring_package: str


class SlurmSources(Facts):
    """Facts of slurm_sources.yaml. `names`: Debian's package name to those of SchedMD's packaging (`package`).

    `plugins` are those that a build must contain.
    """

    source: str
    date: date
    archives: Mapping[str, SlurmSource]
    package: str
    names: Mapping[str, tuple[str, ...]]
    systems: Mapping[str, BuildSystem]
    build_archives: Mapping[str, BuildArchive]
    plugins: tuple[str, ...]


@cache
def slurm_sources() -> SlurmSources:
    """Return the source archives (cached)."""
    return read("slurm_sources", SlurmSources)
