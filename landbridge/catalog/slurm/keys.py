"""Keys of Slurm's configuration files (slurm_keys.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from landbridge.catalog.files import Facts, read


def _words(text: object) -> object:
    return tuple(text.split()) if isinstance(text, str) else text


_Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class SlurmKeys(Facts):
    """Keys by file, and of a partition's line. `removed`: replacement of keys that no longer exist.

    `choices`: permitted values of a key, in lower case; for a key without an entry they are not recorded.
    """

    source: str
    as_of: date = Field(alias="date")
    slurm_conf: _Words
    partition: _Words
    cgroup_conf: _Words
    removed: Mapping[str, str] = Field(alias="gone")
    choices: Mapping[str, tuple[str, ...]]


@cache
def slurm_keys() -> SlurmKeys:
    """Return the keys (cached)."""
    return read("slurm_keys", SlurmKeys)
