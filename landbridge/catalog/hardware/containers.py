"""Container engines for jobs, and the MPI plugins of Debian's Slurm packages (containers.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class EngineFacts(Facts):
    """Distributions (with version) that contain a package of an engine."""

    carried_by: tuple[str, ...]


class ContainerFacts(Facts):
    """Facts of containers.yaml: engines by name; `srun --mpi` plugins by Slurm version in Debian."""

    source: str
    date: date
    engines: Mapping[str, EngineFacts]
    mpi: Mapping[str, tuple[str, ...]]


@cache
def container_facts() -> ContainerFacts:
    """Return the facts of container engines (cached)."""
    return read("containers", ContainerFacts)
