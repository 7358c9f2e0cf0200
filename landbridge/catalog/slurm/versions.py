"""Features of Slurm versions (slurm.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class SlurmRelease(Facts):
    """Features of a Slurm version. `debian_release`: empty for Debian 13 itself, None if no Debian release contains
    it.
    """

    debian_release: str | None
    jwks: bool
    restricted_cores: bool
    topology_yaml: bool
    requeue_on_resume_failure: bool
    expedited_requeue: bool
    metrics: bool
    metrics_with_private_data: bool
    node_suspend_time: bool
    needs_first_save: bool
    health_check_timeout: bool
    upgrades_from: tuple[str, ...]


class SlurmArchive(Facts):
    """Debian archive of Slurm: operating systems that can use it, components, keyring, and the source packages that are taken from that release."""

    systems: tuple[str, ...]
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
    """Return the Slurm versions by `yy.mm`."""
    return read("slurm", _Slurm).versions


@cache
def slurm_archive() -> SlurmArchive:
    """Return the common facts of all versions with a `debian_release`."""
    return read("slurm", _Slurm).archive
