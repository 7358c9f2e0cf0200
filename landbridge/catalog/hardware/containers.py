"""What runs containers in jobs, and what Debian's Slurm packages know of MPI (containers.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class EngineFacts(Facts):
    """Who carries an engine: names of distributions with their version."""

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
