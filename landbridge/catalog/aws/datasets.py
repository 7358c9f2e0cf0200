"""Datasets: sizes, parallel requests and ages (datasets.yaml)."""

from datetime import date, timedelta
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class DatasetFact(Facts):
    """Number and the reason for it."""

    value: int
    why: str


class DatasetFacts(Facts):
    """Facts of datasets.yaml."""

    source: str
    as_of: date = Field(alias="date")
    block_mib: DatasetFact
    workers: DatasetFact
    grace_days: DatasetFact
    put_silent_hours: DatasetFact
    put_renewal_minutes: DatasetFact
    gc_silent_minutes: DatasetFact

    @property
    def block_bytes(self) -> int:
        """Return the largest size of a block."""
        return self.block_mib.value * 2**20

    @property
    def put_silence(self) -> timedelta:
        """Return the age of its marker at which an upload counts as ended."""
        return timedelta(hours=self.put_silent_hours.value)

    @property
    def put_renewal(self) -> timedelta:
        """Return the time between two renewals of an upload's marker."""
        return timedelta(minutes=self.put_renewal_minutes.value)

    @property
    def gc_silence(self) -> timedelta:
        """Return the age of its marker at which a deletion counts as ended."""
        return timedelta(minutes=self.gc_silent_minutes.value)


@cache
def datasets() -> DatasetFacts:
    """Return the facts of datasets (cached)."""
    return read("datasets", DatasetFacts)
