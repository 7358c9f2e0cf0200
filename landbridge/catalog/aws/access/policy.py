"""Facts that policies need (policy.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class PolicyFacts(Facts):
    """Facts of policy.yaml. `untaggable`: resource types that cannot have tags."""

    source: str
    as_of: date = Field(alias="date")
    untaggable: frozenset[str]


@cache
def policy_facts() -> PolicyFacts:
    """Return the catalogue's policy facts (cached)."""
    return read("policy", PolicyFacts)
