"""What went wrong in AWS, by what has to be done about it."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Only `capacity` is worth another subnet; `throttle` and `network` are worth a later try; the rest need a person."""

    CAPACITY = "capacity"
    QUOTA = "quota"
    THROTTLE = "throttle"
    CONFIGURATION = "configuration"
    NETWORK = "network"


# EC2 API reference, "Error codes" (client and server errors); the last two are CreateFleet's own words for no capacity.
_CAPACITY = (
    "InsufficientInstanceCapacity",
    "InsufficientHostCapacity",
    "InsufficientReservedInstanceCapacity",
    "InsufficientCapacityOnHost",
    "InsufficientFreeAddressesInSubnet",
    "ReservationCapacityExceeded",
    "SpotMaxPriceTooLow",
    "Unsupported",
    "UnfulfillableCapacity",
    "InsufficientCapacity",
)
_QUOTA = (
    "VcpuLimitExceeded",
    "InstanceLimitExceeded",
    "MaxSpotInstanceCountExceeded",
    "MaxSpotFleetRequestCountExceeded",
    "VolumeLimitExceeded",
    "NetworkInterfaceLimitExceeded",
)
_THROTTLE = (
    "RequestLimitExceeded",
    "Throttling",
    "ThrottlingException",
    "InternalError",
    "ServiceUnavailable",
    "Unavailable",
)
_NETWORK = (
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ConnectionClosedError",
    "ProxyConnectionError",
)
_KINDS = {
    **dict.fromkeys(_CAPACITY, Kind.CAPACITY),
    **dict.fromkeys(_QUOTA, Kind.QUOTA),
    **dict.fromkeys(_THROTTLE, Kind.THROTTLE),
    **dict.fromkeys(_NETWORK, Kind.NETWORK),
}


def classify(code: str) -> Kind:
    """The kind of an AWS error code or a botocore exception's name; what is not known needs a person."""
    return _KINDS.get(code, Kind.CONFIGURATION)


@dataclass(frozen=True)
class LaunchProblem:
    """Why nodes did not get instances: data, not an exception, because one problem must not stop the other jobs."""

    code: str
    message: str

    @property
    def kind(self) -> Kind:
        return classify(self.code)

    def reason(self) -> str:
        """The node's reason in Slurm: short, on one line, and recognisably ours."""
        return f"landbridge: {self.code} ({self.kind}) {' '.join(self.message.split())}"[:200].replace('"', "'")


class AwsError(Exception):
    """An AWS call that failed after its retries."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.problem = LaunchProblem(code, message)
