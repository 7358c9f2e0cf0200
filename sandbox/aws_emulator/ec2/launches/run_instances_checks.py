"""Checks of a RunInstances request that do not depend on the account's state.

Source: EC2 API Reference, RunInstances (SubnetId, NetworkInterfaces, TagSpecifications, InstanceMarketOptions) and "Tag
restrictions".
"""

from collections.abc import Mapping
from typing import Any

from sandbox.aws_emulator.ec2.launches import launch
from sandbox.aws_emulator.server.errors import CloudError

#: Resource types that a launch creates and can tag.
TAGGED = ("instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu")
MARKETS = ("spot", "capacity-block", "interruptible-capacity-reservation")
MAX_KEY_LENGTH, MAX_VALUE_LENGTH, MAX_TAGS = 128, 256, 50
#: Parameters that EC2 refuses for the instance when network interfaces are given.
_OF_INTERFACES = {
    "SubnetId": "subnet ID",
    "SecurityGroupIds": "security groups",
    "SecurityGroups": "security groups",
    "PrivateIpAddress": "private IP address",
}


def check(request: Mapping[str, Any]) -> None:
    """Raise EC2's error for a request with contradictory parameters."""
    _check_interface_parameters(request, request)
    _check_tags(request.get("TagSpecifications") or [])
    options = request.get("InstanceMarketOptions") or {}
    market = options.get("MarketType")
    if options and market not in MARKETS:
        raise CloudError("InvalidParameterValue", f"Value ({market}) for parameter marketType is invalid.")
    if options.get("SpotOptions") and market != "spot":
        raise CloudError("InvalidParameterCombination", "Spot options may be specified for the market type spot only")


def resolve(backend: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the launch parameters.

    With network interfaces in the template, a subnet in the request is refused (in a fleet's override it is allowed).
    Interfaces in both are refused here: EC2 accepts them, and does not document how it merges them.
    """
    reference = request.get("LaunchTemplate") or {}
    if reference and request.get("NetworkInterfaces"):
        plain = {key: value for key, value in request.items() if key not in ("NetworkInterfaces", *_OF_INTERFACES)}
        if launch.resolve(backend, plain).get("NetworkInterfaces"):
            message = "Network interfaces in the launch template and in the request: EC2 does not document their merge."
            raise CloudError("InvalidParameterCombination", message)
    if reference and not request.get("NetworkInterfaces"):
        plain = {key: value for key, value in request.items() if key not in _OF_INTERFACES}
        _check_interface_parameters(launch.resolve(backend, plain), request)
    return launch.resolve(backend, request)


def _check_interface_parameters(interfaces: Mapping[str, Any], request: Mapping[str, Any]) -> None:
    for key, noun in _OF_INTERFACES.items():
        if interfaces.get("NetworkInterfaces") and request.get(key):
            message = f"Network interfaces and an instance-level {noun} may not be specified on the same request"
            raise CloudError("InvalidParameterCombination", message)


def _check_tags(specifications: list[Mapping[str, Any]]) -> None:
    for specification in specifications:
        kind, tags = specification.get("ResourceType"), specification.get("Tags") or []
        if kind not in TAGGED:
            message = f"'{kind}' is not a valid taggable resource type for this operation."
            raise CloudError("InvalidParameterValue", message)
        if len(tags) > MAX_TAGS:
            raise CloudError("TagLimitExceeded", f"The maximum number of tags on a resource is {MAX_TAGS}")
        keys = [str(tag.get("Key", "")) for tag in tags]
        if len(set(keys)) < len(keys):
            raise CloudError(
                "InvalidParameterValue", "Duplicate tag keys found. Please note that Tag keys are case insensitive."
            )
        for tag in tags:
            key, value = str(tag.get("Key", "")), str(tag.get("Value", ""))
            if not 1 <= len(key) <= MAX_KEY_LENGTH or key.startswith("aws:"):
                raise CloudError(
                    "InvalidParameterValue",
                    f"Tag keys starting with 'aws:' are reserved, and a key has 1 to {MAX_KEY_LENGTH} letters",
                )
            if len(value) > MAX_VALUE_LENGTH:
                raise CloudError(
                    "InvalidParameterValue", f"Tag value exceeds the maximum length of {MAX_VALUE_LENGTH} characters"
                )
