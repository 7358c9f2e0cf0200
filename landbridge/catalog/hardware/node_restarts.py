"""Restarts of on-prem nodes: default failure budget and waiting times (node_restarts.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class NodeShare(Facts):
    """Share of a site's nodes with a minimum number, and the reason."""

    percent: int
    least: int
    why: str

    def of(self, nodes: int) -> int:
        """Return this share of `nodes` nodes, at least `least`."""
        return max(self.least, nodes * self.percent // 100)


class RestartMinutes(Facts):
    """Minutes until a host answers after a restart, and the reason."""

    value: int
    why: str


class NodeRestartFacts(Facts):
    """Default values of `onprem.restarts`."""

    source: str
    as_of: date = Field(alias="date")
    at_once: NodeShare
    out_of_service: NodeShare
    minutes: RestartMinutes


@cache
def node_restarts() -> NodeRestartFacts:
    """Return the default values (cached)."""
    return read("node_restarts", NodeRestartFacts)
