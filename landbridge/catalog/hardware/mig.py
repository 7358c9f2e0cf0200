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


class MeasuredSlice(Facts):
    """MIG slice as the driver states it: memory, multiprocessors, and how many of it one GPU has."""

    memory_gib: float
    multiprocessors: int
    instances: int


class _Measured(Facts):
    source: str
    date: date
    profiles: Mapping[str, MeasuredSlice]


class _Row(Facts):
    kinds: str
    profiles: Mapping[str, str]


class _Mig(Facts):
    source: str
    date: date
    kinds: Mapping[str, Mapping[str, Slot]]
    gpus: Mapping[str, _Row]
    measured: Mapping[str, _Measured]


@cache
def _file() -> _Mig:
    return read("mig", _Mig)


def mig_profiles(model: str) -> Mapping[str, Slot]:
    """Return the MIG profiles of a GPU model by nvidia-smi's names, smallest first; empty without MIG."""
    file = _file()
    row = file.gpus.get(model)
    return {name: file.kinds[row.kinds][kind] for name, kind in row.profiles.items()} if row else {}


def measured_slices(model: str) -> Mapping[str, MeasuredSlice]:
    """Return the slices of a GPU model by nvidia-smi's names as its driver states them; empty if they are not known."""
    row = _file().measured.get(model)
    return row.profiles if row is not None else {}


def slice_memory_mib(model: str, profile: str, gpu_memory_mib: float) -> float:
    """Return the memory of a slice: the driver's figure if it is known, else its share of the GPU's."""
    known, slots = measured_slices(model).get(profile), mig_profiles(model)
    whole = max(slot.size for slot in slots.values())
    return known.memory_gib * 1024 if known is not None else gpu_memory_mib * slots[profile].size / whole


def gpu_share(model: str, profile: str) -> float:
    """Return the share of a GPU that an instance of a profile takes: the greater one of its memory and its multiprocessors.

    The rest is sold with the other resource missing: a 3g instance leaves half of the memory, so it costs half of the GPU.
    """
    slots = mig_profiles(model)
    whole_size, whole_compute = (
        max(slot.size for slot in slots.values()),
        max(slot.compute for slot in slots.values()),
    )
    slot = slots[profile]
    return max(slot.size / whole_size, slot.compute / whole_compute)
