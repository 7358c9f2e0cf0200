"""Size of a store of metrics, and prices of Amazon Managed Service for Prometheus (metrics_store.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class SeriesOf(Facts):
    """Number of series of a host, and for each of its processors, RDMA ports and GPUs."""

    host: int
    processor: int
    port: int
    gpu: int


class IngestionStep(Facts):
    """Step of the price of samples: up to `billions` in a month; None: the rest."""

    billions: float | None = None
    usd_per_10_million: float


class ManagedPrices(Facts):
    """Prices of Amazon Managed Service for Prometheus."""

    ingestion: tuple[IngestionStep, ...]
    storage_usd_per_gb_month: float

    def ingestion_usd(self, samples: float) -> float:
        """Return the price of a month's samples."""
        usd, counted = 0.0, 0.0
        for step in self.ingestion:
            end = samples if step.billions is None else min(samples, step.billions * 1e9)
            usd += max(0.0, end - counted) / 1e7 * step.usd_per_10_million
            counted = max(counted, end)
        return usd


class MetricsStoreFacts(Facts):
    """Facts of metrics_store.yaml."""

    source: str
    as_of: date = Field(alias="date")
    series: SeriesOf
    bytes_per_sample: float
    bytes_per_series: int
    managed: ManagedPrices


@cache
def metrics_store_facts() -> MetricsStoreFacts:
    """Return the facts (cached)."""
    return read("metrics_store", MetricsStoreFacts)
