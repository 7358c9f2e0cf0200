"""FIPS endpoints of AWS services (fips.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class FipsFacts(Facts):
    """Facts of fips.yaml: services with FIPS endpoints in `regions`, and used services without one."""

    source: str
    as_of: date = Field(alias="date")
    regions: tuple[str, ...]
    services: frozenset[str]
    without: frozenset[str]
    obligation: str
    variable: str


@cache
def fips() -> FipsFacts:
    """Return the facts of FIPS endpoints (cached)."""
    return read("fips", FipsFacts)
