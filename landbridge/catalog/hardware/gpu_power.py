"""Recorded power of GPUs, by intensity of their work (gpu_power.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class GpuPower(Facts):
    """Power of a GPU in watts: its limit, without a process, with one that does no work, and in training loops by name."""

    maximum: float
    idle: float
    held: float
    jobs: Mapping[str, float]


class _GpuPowers(Facts):
    source: str
    date: date
    gpus: Mapping[str, GpuPower]


@cache
def _file() -> _GpuPowers:
    return read("gpu_power", _GpuPowers)


def gpu_powers() -> Mapping[str, GpuPower]:
    """Return the recorded power by GPU model (gpus.yaml)."""
    return _file().gpus


def recorded_shares() -> tuple[range, range]:
    """Return the percentages of the maximum power that idle GPUs took, and those that jobs took."""
    idle = [100 * gpu.idle / gpu.maximum for gpu in gpu_powers().values()]
    jobs = [100 * watts / gpu.maximum for gpu in gpu_powers().values() for watts in gpu.jobs.values()]
    return _rounded(idle), _rounded(jobs)


def recorded_on() -> date:
    """Return the day of the recording."""
    return _file().date


def _rounded(percentages: list[float]) -> range:
    return range(round(min(percentages)), round(max(percentages)) + 1)
