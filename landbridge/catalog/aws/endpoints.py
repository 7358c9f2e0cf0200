"""VPC endpoints that a feature needs (endpoints.yaml)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from landbridge.catalog.aws.regions import regions
from landbridge.catalog.files import Facts, read


@dataclass(frozen=True, slots=True)
class EndpointFact:
    """VPC endpoint: `service` as in `com.amazonaws.<region>.<service>`."""

    service: str
    kind: Literal["gateway", "interface"]
    feature: str
    why: str


class EndpointFeature(Facts):
    """Services and other features that one feature needs. `interface`: an interface endpoint even where a gateway
    endpoint exists.
    """

    services: tuple[str, ...]
    needs: tuple[str, ...] = ()
    interface: bool = False
    why: str


class _Renamed(Facts):
    prefix: str
    services: frozenset[str]


class _Endpoints(Facts):
    source: str
    as_of: date = Field(alias="date")
    gateways: tuple[str, ...]
    china: _Renamed
    features: Mapping[str, EndpointFeature]

    @model_validator(mode="after")
    def _needs_are_features(self) -> "_Endpoints":
        strangers = {need for feature in self.features.values() for need in feature.needs} - set(self.features)
        if strangers:
            raise ValueError(f"no such features: {', '.join(sorted(strangers))}")
        return self


@cache
def _read() -> _Endpoints:
    return read("endpoints", _Endpoints)


def endpoint_features() -> tuple[str, ...]:
    """The features that endpoints are recorded for."""
    return tuple(_read().features)


def endpoint_name(service: str, kind: Literal["gateway", "interface"], region: str) -> str:
    """The full name of an endpoint's service in a region: `com.amazonaws.us-east-1.ec2`."""
    facts, region_facts = _read(), regions().get(region)
    china = (
        region_facts is not None
        and region_facts.partition == "aws-cn"
        and kind == "interface"
        and service in facts.china.services
    )
    return f"{facts.china.prefix if china else 'com.amazonaws'}.{region}.{service}"


def endpoints_of(features: Iterable[str]) -> tuple[EndpointFact, ...]:
    """The endpoints that these features, and what they need, take: each once, gateways first.

    A gateway and an interface of one service are two. Raises KeyError for a feature that is not recorded.
    """
    facts, endpoints = _read(), dict[tuple[str, str], EndpointFact]()
    waiting = list(dict.fromkeys(features))
    visited = set(waiting)
    for name in waiting:
        feature = facts.features[name]
        waiting += [need for need in feature.needs if need not in visited]
        visited.update(feature.needs)
        for service in feature.services:
            gateway = service in facts.gateways and not feature.interface
            kind: Literal["gateway", "interface"] = "gateway" if gateway else "interface"
            endpoints.setdefault((service, kind), EndpointFact(service, kind, name, feature.why))
    return tuple(sorted(endpoints.values(), key=lambda endpoint: (endpoint.kind != "gateway", endpoint.service)))
