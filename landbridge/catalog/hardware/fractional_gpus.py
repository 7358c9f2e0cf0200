"""Instance types with a fraction of a GPU that the catalogue of instances does not have (fractional_gpus.yaml)."""

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from functools import cache

from landbridge.catalog.files import Facts, read


class FractionalGpu(Facts):
    """Fraction of a GPU that an instance has. `whole`: a type with the whole GPU."""

    gpu: str
    fraction: float
    memory_mib: int
    whole: str

    def reason(self, name: str) -> str:
        """Return the sentence that says why Landbridge starts no node of the type."""
        share = Fraction(self.fraction)
        return (
            f"{name} has {share} of an {self.gpu} ({self.memory_mib} MiB), a virtual GPU: it needs NVIDIA's GRID driver, "
            "which Landbridge does not install"
        )


class _FractionalGpus(Facts):
    source: str
    date: date
    types: Mapping[str, FractionalGpu]


@cache
def fractional_gpus() -> Mapping[str, FractionalGpu]:
    """Return the fractions of GPUs by instance type."""
    return read("fractional_gpus", _FractionalGpus).types
