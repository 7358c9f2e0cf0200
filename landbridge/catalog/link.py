"""Limits of the link between sites, and the causes of its faults (link.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read


class LinkCause(Facts):
    """Cause of a fault of the link: its severity and its fix."""

    severity: Literal["error", "warning"]
    fix: str


class ThroughputSample(Facts):
    """Bounds of a throughput sample, and the rate below which it is a fault."""

    mbps: float
    connections: int
    bytes: int
    seconds: int


class LinkFacts(Facts):
    """Facts of link.yaml."""

    source: str
    as_of: date = Field(alias="date")
    clock_error_seconds: float
    clock_warning_seconds: float
    latency_ms: float
    throughput: ThroughputSample
    causes: Mapping[str, LinkCause]


@cache
def link_facts() -> LinkFacts:
    """Return the limits and causes (cached)."""
    return read("link", LinkFacts)
