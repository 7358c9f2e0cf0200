"""Attempts to compute or store data in AWS that must stay on-prem, with the layers that refuse them (residency_attempts.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class ResidencyAttempt(Facts):
    """Attempt: its description, a command of Slurm or a request to AWS, and the layers that refuse it, the first one first.

    `partition` and `wckey` are those of the job that `command` submits or, with `changes`, changes.
    """

    description: str = Field(alias="try")
    layers: tuple[str, ...] = Field(min_length=2)
    command: tuple[str, ...] = ()
    partition: str = ""
    wckey: str = ""
    changes: bool = False
    region: str = ""
    role: str = ""
    action: str = ""
    resource: str = ""
    context: Mapping[str, str] = {}


class ResidencyAttempts(Facts):
    """Attempts by name, and descriptions of the layers."""

    source: str
    as_of: date = Field(alias="date")
    layers: Mapping[str, str]
    attempts: Mapping[str, ResidencyAttempt]


@cache
def residency_attempts() -> ResidencyAttempts:
    """Return the attempts."""
    return read("residency_attempts", ResidencyAttempts)
