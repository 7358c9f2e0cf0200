"""VPC endpoints of each feature (endpoints.yaml)."""

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
    """Services and other features that one feature needs. `interface`: an interface endpoint even if a gateway
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
        unknown_features = {need for feature in self.features.values() for need in feature.needs} - set(self.features)
        if unknown_features:
            raise ValueError(f"unknown features: {', '.join(sorted(unknown_features))}")
        return self


@cache
def _read() -> _Endpoints:
    return read("endpoints", _Endpoints)


def endpoint_features() -> tuple[str, ...]:
    """Return the features with recorded endpoints."""
    return tuple(_read().features)


def endpoint_name(service: str, kind: Literal["gateway", "interface"], region: str) -> str:
    """Return the full service name of an endpoint in a region: `com.amazonaws.us-east-1.ec2`."""
    facts, region_facts = _read(), regions().get(region)
    china = (
        region_facts is not None
        and region_facts.partition == "aws-cn"
        and kind == "interface"
        and service in facts.china.services
    )
    return f"{facts.china.prefix if china else 'com.amazonaws'}.{region}.{service}"


def endpoints_of(features: Iterable[str]) -> tuple[EndpointFact, ...]:
    """Return the endpoints of these features and of the features that they need, without duplicates, gateways first.

    A gateway and an interface endpoint of one service are two endpoints. Raises KeyError for an unknown feature.
    """
    facts, endpoints = _read(), dict[tuple[str, str], EndpointFact]()
    pending = list(dict.fromkeys(features))
    visited = set(pending)
    for name in pending:
        feature = facts.features[name]
        pending += [need for need in feature.needs if need not in visited]
        visited.update(feature.needs)
        for service in feature.services:
            gateway = service in facts.gateways and not feature.interface
            kind: Literal["gateway", "interface"] = "gateway" if gateway else "interface"
            endpoints.setdefault((service, kind), EndpointFact(service, kind, name, feature.why))
    return tuple(sorted(endpoints.values(), key=lambda endpoint: (endpoint.kind != "gateway", endpoint.service)))
