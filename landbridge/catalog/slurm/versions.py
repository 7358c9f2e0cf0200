"""Features of Slurm versions (slurm.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class SlurmRelease(Facts):
    """Features of a Slurm version. `debian_release`: empty is Debian 13 itself, None means that no Debian release has
    it.
    """

    debian_release: str | None
    jwks: bool
    restricted_cores: bool
    topology_yaml: bool
    requeue_on_resume_failure: bool
    expedited_requeue: bool
    metrics: bool
    node_suspend_time: bool
    needs_first_save: bool
    health_check_timeout: bool


class SlurmArchive(Facts):
    """Debian's: where in an archive the packages are, who signs it, and the source packages that come from a release for Slurm."""

    components: str
    keyring: str
    packages: tuple[str, ...]


class _Slurm(Facts):
    source: str
    date: date
    archive: SlurmArchive
    versions: Mapping[str, SlurmRelease]


@cache
def slurm_releases() -> Mapping[str, SlurmRelease]:
    """Slurm versions by their `yy.mm`."""
    return read("slurm", _Slurm).versions


@cache
def slurm_archive() -> SlurmArchive:
    """Return the facts that packages of every version with a `debian_release` share."""
    return read("slurm", _Slurm).archive
