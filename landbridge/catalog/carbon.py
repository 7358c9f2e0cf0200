"""Emissions of electricity by grid, and the PUE of AWS (carbon.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import model_validator

from landbridge.catalog.aws.prices import PriceSource
from landbridge.catalog.files import Facts, read


class ElectricGrid(Facts):
    """Electric grid: grams of CO2 equivalents per kWh, and the AWS regions on it."""

    name: str
    grams_kwh: float
    regions: tuple[str, ...] = ()
    source: str


class AwsPue(Facts):
    """Average PUE of AWS's data centres."""

    pue: float
    source: str


class CarbonFacts(Facts):
    """Facts of carbon.yaml."""

    source: str
    date: date
    sources: Mapping[str, PriceSource]
    aws_pue: AwsPue
    grids: Mapping[str, ElectricGrid]

    @model_validator(mode="after")
    def _sources_are_named(self) -> "CarbonFacts":
        named = {grid.source for grid in self.grids.values()} | {self.aws_pue.source}
        if unlisted_sources := named - set(self.sources):
            raise ValueError(f"grids name sources that are not listed: {', '.join(sorted(unlisted_sources))}")
        return self

    def of_region(self, region: str) -> ElectricGrid | None:
        """Return the grid of an AWS region; None if it is not known."""
        return next((grid for grid in self.grids.values() if region in grid.regions), None)


@cache
def carbon() -> CarbonFacts:
    """Return the facts (cached)."""
    return read("carbon", CarbonFacts)
