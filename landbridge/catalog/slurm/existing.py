"""Needs of the files of a Slurm that runs already on nodes in AWS (existing_slurm.yaml)."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from landbridge.catalog.files import Facts, read
from landbridge.findings import Severity


class NodeSetting(Facts):
    """Keys whose values have this effect on nodes in AWS; `silent` is the pattern of values without it."""

    keys: tuple[str, ...]
    silent: re.Pattern[str] | None = None
    severity: Severity
    effect: str
    fix: str

    def is_silent(self, value: str) -> bool:
        """Return whether nothing is said of a value."""
        return self.silent is not None and re.fullmatch(self.silent.pattern, value, re.IGNORECASE) is not None


class ExistingSlurmFacts(Facts):
    """Facts of existing_slurm.yaml. `files` are effects by name of a file; `unremarkable` are keys without a finding."""

    source: str
    as_of: date = Field(alias="date")
    settings: tuple[NodeSetting, ...]
    cgroup: tuple[NodeSetting, ...]
    paths: tuple[str, ...]
    files: Mapping[str, str]
    unremarkable: Annotated[tuple[str, ...], BeforeValidator(str.split)]


@cache
def existing_slurm() -> ExistingSlurmFacts:
    """Return the facts (cached)."""
    return read("existing_slurm", ExistingSlurmFacts)
