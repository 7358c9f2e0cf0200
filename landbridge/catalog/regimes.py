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
    """Compliance regime. `aws` is None if no AWS region may store the data; `obligations` apply at every site."""

    title: str
    onprem: Literal["yes", "no", "conditional"]
    onprem_only_with: tuple[str, ...] = ()
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

    def obligations_at(self, region: str | None) -> tuple[str, ...]:
        """Return the obligations for the data in a region, or on-prem (None), without obligations of the other place
        only.
        """
        in_aws = self.aws.only_with if self.aws is not None else ()
        here, elsewhere = (self.onprem_only_with, in_aws) if region is None else (in_aws, self.onprem_only_with)
        general = (word for word in self.obligations if word not in elsewhere or word in here)
        return tuple(dict.fromkeys((*general, *here)))


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
            for word in (*regime.obligations, *regime.onprem_only_with, *(regime.aws.only_with if regime.aws else ()))
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


def regimes_date() -> date:
    """Return the day on which the regimes were recorded."""
    return _read().as_of
