"""Keys of Slurm's files (slurm_keys.yaml)."""

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
    """Keys by file, and of a partition's line. `gone`: what took the place of those there are no more.

    `choices`: the words that a key takes, in lower case; of a key that is not there, they are not recorded.
    """

    source: str
    as_of: date = Field(alias="date")
    slurm_conf: _Words
    partition: _Words
    cgroup_conf: _Words
    gone: Mapping[str, str]
    choices: Mapping[str, tuple[str, ...]]


@cache
def slurm_keys() -> SlurmKeys:
    """The keys."""
    return read("slurm_keys", SlurmKeys)
