"""Container engines for jobs, and the MPI plugins of Debian's Slurm packages (containers.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class EngineFacts(Facts):
    """Distributions, with their version, that have a package of an engine."""

    carried_by: tuple[str, ...]


class ContainerFacts(Facts):
    """Engines by name; kinds of `srun --mpi` by the version of Slurm that Debian has."""

    source: str
    date: date
    engines: Mapping[str, EngineFacts]
    mpi: Mapping[str, tuple[str, ...]]


@cache
def container_facts() -> ContainerFacts:
    """The file."""
    return read("containers", ContainerFacts)
