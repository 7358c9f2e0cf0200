"""Parameters of slurm.conf that a daemon reads only at start (slurm_restarts.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

Daemon = Literal["slurmctld", "slurmd"]


class SlurmRestart(Facts):
    """Daemons that must be restarted when a parameter changes, and the reason."""

    daemons: tuple[Daemon, ...]
    why: str


class _SlurmRestarts(Facts):
    source: str
    as_of: date = Field(alias="date")
    parameters: Mapping[str, SlurmRestart]


@cache
def slurm_restarts() -> Mapping[str, SlurmRestart]:
    """Return the parameters by name; since Slurm 23.11 `scontrol reconfigure` applies all others."""
    return read("slurm_restarts", _SlurmRestarts).parameters
