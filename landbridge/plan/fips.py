"""FIPS endpoints of AWS, if the regime of a data class in AWS requires them."""

from typing import Literal

from landbridge.catalog.aws.fips import fips
from landbridge.catalog.regimes import regimes
from landbridge.environment import Environment

Side = Literal["operator", "onprem", "cloud"]


def fips_classes(environment: Environment) -> tuple[str, ...]:
    """Return the data classes in AWS whose regime has the obligation."""
    obligation = fips().obligation
    required: list[str] = []
    for name, data_class in environment.data_classes.items():
        regime = regimes().get(data_class.regime or "")
        if regime is None or "aws" not in data_class.sites:
            continue
        conditions = regime.aws.only_with if regime.aws is not None else ()
        if obligation in (*regime.obligations, *conditions):
            required.append(name)
    return tuple(required)


def fips_endpoints(environment: Environment, side: Side = "operator") -> bool:
    """Return true if clients of one side use AWS's FIPS endpoints.

    False with a custom endpoint, which replaces them; botocore refuses both at once ("FIPS and custom endpoint are not
    supported", endpoint rule sets). False for hosts in a closed VPC: interface endpoints have the standard names only.
    """
    is_closed = side == "cloud" and is_closed_network(environment)
    return bool(fips_classes(environment)) and getattr(environment.aws.endpoints, side) is None and not is_closed


def is_closed_network(environment: Environment) -> bool:
    """Return true if hosts in AWS reach AWS services through VPC endpoints only."""
    return environment.aws.nat == "none" and environment.aws.vpc is None


def fips_services(environment: Environment) -> frozenset[str]:
    """Return the services of which the operator's clients use FIPS endpoints."""
    return fips().services if fips_endpoints(environment) else frozenset()


def fips_variables(environment: Environment, side: Side) -> dict[str, str]:
    """Return the environment variables with which AWS's SDKs use FIPS endpoints."""
    return {fips().variable: "true"} if fips_endpoints(environment, side) else {}
