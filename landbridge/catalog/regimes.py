"""Compliance regimes: permitted regions of their data, and obligations (regimes.yaml). Default deny."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from landbridge.catalog.aws.regions import Partition, regions
from landbridge.catalog.files import Facts, read


class RegimeCloud(Facts):
    """Partitions and geographies that may store the data, and obligations that must be met there."""

    partitions: tuple[Partition, ...]
    geographies: tuple[str, ...]
    only_with: tuple[str, ...] = ()


class Regime(Facts):
    """Compliance regime. `aws` is None if no AWS region may store the data."""

    title: str
    onprem: Literal["yes", "no", "conditional"]
    aws: RegimeCloud | None = None
    obligations: tuple[str, ...]
    citation: str
    note: str | None = None

    def allows_region(self, region: str) -> bool:
        """Return true if the data may be in a region (with obligations met); false for an unknown region."""
        facts = regions().get(region)
        if facts is None or self.aws is None:
            return False
        return facts.partition in self.aws.partitions and facts.geography in self.aws.geographies


class _Regimes(Facts):
    source: str
    as_of: date = Field(alias="date")
    regimes: Mapping[str, Regime]
    obligations: Mapping[str, str]

    @model_validator(mode="after")
    def _obligations_are_explained(self) -> "_Regimes":
        used = {
            word
            for regime in self.regimes.values()
            for word in (*regime.obligations, *(regime.aws.only_with if regime.aws else ()))
        }
        if used - set(self.obligations):
            raise ValueError(f"not explained: {', '.join(sorted(used - set(self.obligations)))}")
        return self


@cache
def _read() -> _Regimes:
    return read("regimes", _Regimes)


def regimes() -> Mapping[str, Regime]:
    """Return the regimes by their name in a data class."""
    return _read().regimes


def obligations() -> Mapping[str, str]:
    """Return the description of each obligation."""
    return _read().obligations
