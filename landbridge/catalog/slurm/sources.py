"""Source archives of Slurm, and the names in its packaging (slurm_sources.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class SlurmSource(Facts):
    """Source archive: its release, its path in a Debian archive, and its SHA-256."""

    release: str
    path: str
    sha256: str


class SlurmSources(Facts):
    """All that is known. `names`: Debian's name of a package to those of Slurm's own packaging (`package`)."""

    source: str
    date: date
    archives: Mapping[str, SlurmSource]
    package: str
    names: Mapping[str, tuple[str, ...]]


@cache
def slurm_sources() -> SlurmSources:
    """The file, read once."""
    return read("slurm_sources", SlurmSources)
