"""Which AWS services the nodes must reach, and through which VPC endpoints: enough that a network without NAT works."""

from dataclasses import dataclass
from typing import Literal

from landbridge.environment import Environment


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A VPC endpoint: `service` as in `com.amazonaws.<region>.<service>`, and what in this environment needs it."""

    service: str
    kind: Literal["gateway", "interface"]
    why: str


def endpoint_services(environment: Environment) -> tuple[Endpoint, ...]:
    """The endpoints that this environment gets, the S3 gateway first."""
    return (Endpoint("s3", "gateway", "the hub"),)
