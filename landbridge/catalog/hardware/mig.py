"""MIG profiles of GPUs (mig.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class Slot(Facts):
    """Placement of MIG instances of one profile: `size` memory slices, beginning at one of `starts`, and `compute` slices of
    multiprocessors.
    """

    size: int
    compute: int
    starts: tuple[int, ...]


class _Row(Facts):
    kinds: str
    profiles: Mapping[str, str]


class _Mig(Facts):
    source: str
    date: date
    kinds: Mapping[str, Mapping[str, Slot]]
    gpus: Mapping[str, _Row]


@cache
def _file() -> _Mig:
    return read("mig", _Mig)


def mig_profiles(model: str) -> Mapping[str, Slot]:
    """Return the MIG profiles of a GPU model by nvidia-smi's names, smallest first; empty without MIG."""
    file = _file()
    row = file.gpus.get(model)
    return {name: file.kinds[row.kinds][kind] for name, kind in row.profiles.items()} if row else {}
