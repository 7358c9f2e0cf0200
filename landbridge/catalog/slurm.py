"""What Slurm's versions have (slurm.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class SlurmRelease(Facts):
    """What a Slurm version has. `debian_release`: empty is Debian 13 itself, None that Debian carries none."""

    debian_release: str | None
    topology_yaml: bool
    requeue_on_resume_failure: bool
    expedited_requeue: bool
    metrics: bool
    node_suspend_time: bool


class _Slurm(Facts):
    source: str
    date: date
    versions: Mapping[str, SlurmRelease]


@cache
def slurm_releases() -> Mapping[str, SlurmRelease]:
    """Slurm versions by their `yy.mm`."""
    return read("slurm", _Slurm).versions
