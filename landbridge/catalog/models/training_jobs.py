"""SageMaker training jobs: limits, names of quotas and prices (training_jobs.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class TrainingQuotas(Facts):
    """Names of the quotas of instances, with `{type}` for the instance type."""

    on_demand: str
    spot: str


class TrainingPrices(Facts):
    """On-demand prices of a region in USD/h of one instance."""

    source: str
    as_of: date = Field(alias="date")
    usd_hour: Mapping[str, float]


class TrainingFacts(Facts):
    """Facts of training_jobs.yaml."""

    source: str
    as_of: date = Field(alias="date")
    longest_seconds: int
    start_seconds: int
    arguments: int
    argument_characters: int
    checkpoint_folder: str
    quotas: TrainingQuotas
    prices: Mapping[str, TrainingPrices]

    def usd_hour(self, region: str, instance_type: str) -> float | None:
        """Return the price of an instance type; None if it is not known."""
        prices = self.prices.get(region)
        return prices.usd_hour.get(instance_type) if prices is not None else None


@cache
def training_facts() -> TrainingFacts:
    """Return the facts (cached)."""
    return read("training_jobs", TrainingFacts)
