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


class PlannedKeys(Facts):
    """Keys that Landbridge generates, by file or line."""

    slurm_conf: Mapping[str, str]
    partition: Mapping[str, str]
    node: Mapping[str, str]


class RequiredValue(Facts):
    """Value of a key that overrides must keep: `program`, or all `words` of a comma-separated list; with neither, no value
    is permitted. `loses`: the guarantees that end without it. `removable`: null is permitted. `removable_with`: null is
    permitted if the override of this key is null too.
    """

    program: str | None = None
    words: tuple[str, ...] = ()
    loses: str
    removable: bool = False
    removable_with: str | None = None


class IdledSettings(Facts):
    """Keys of an environment, with `*` for every entry, that have no effect if the value of `key` lacks the word `needs`
    (None: if `key` is overridden at all).
    """

    key: str
    needs: str | None = None
    settings: tuple[str, ...]


class SlurmKeys(Facts):
    """Keys by file, and of the lines of partitions and nodes. `removed`: replacement of keys that no longer exist.

    `planned`: keys that Landbridge generates, with the setting that they are generated from.

    `required`: values of Landbridge that overrides must keep. `idled`: settings without effect under other values.

    `choices`: permitted values of a key, in lower case; for a key without an entry they are not recorded.
    """

    source: str
    as_of: date = Field(alias="date")
    slurm_conf: _Words
    partition: _Words
    node: _Words
    cgroup_conf: _Words
    removed: Mapping[str, str] = Field(alias="gone")
    planned: PlannedKeys
    required: Mapping[str, RequiredValue]
    idled: tuple[IdledSettings, ...]
    choices: Mapping[str, tuple[str, ...]]


@cache
def slurm_keys() -> SlurmKeys:
    """Return the keys (cached)."""
    return read("slurm_keys", SlurmKeys)
