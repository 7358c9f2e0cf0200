"""Checks of a RunInstances request by itself, independent of the account's state.

Source: EC2 API Reference, RunInstances (SubnetId, NetworkInterfaces, TagSpecifications, InstanceMarketOptions) and "Tag restrictions".
"""

from collections.abc import Mapping
from typing import Any

from sandbox.aws_emulator.ec2 import launch
from sandbox.aws_emulator.server.errors import CloudError

#: Resource types that a launch creates and can tag.
TAGGED = ("instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu")
MARKETS = ("spot", "capacity-block", "interruptible-capacity-reservation")
KEY, VALUE, TAGS = 128, 256, 50
#: Parameters that EC2 refuses for the instance when network interfaces are given.
_OF_INTERFACES = {
    "SubnetId": "subnet ID",
    "SecurityGroupIds": "security groups",
    "SecurityGroups": "security groups",
    "PrivateIpAddress": "private IP address",
}


def check(request: Mapping[str, Any]) -> None:
    """Raise EC2's error for a request whose parameters contradict one another."""
    _beside_interfaces(request, request)
    _tags(request.get("TagSpecifications") or [])
    options = request.get("InstanceMarketOptions") or {}
    market = options.get("MarketType")
    if options and market not in MARKETS:
        raise CloudError("InvalidParameterValue", f"Value ({market}) for parameter marketType is invalid.")
    if options.get("SpotOptions") and market != "spot":
        raise CloudError("InvalidParameterCombination", "Spot options may be specified for the market type spot only")


def resolve(backend: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """The effective parameters. A template's interfaces take no subnet of the request beside them, which a fleet's override may name."""
    reference = request.get("LaunchTemplate") or {}
    if reference and not request.get("NetworkInterfaces"):
        plain = {key: value for key, value in request.items() if key not in _OF_INTERFACES}
        _beside_interfaces(launch.resolve(backend, plain), request)
    return launch.resolve(backend, request)


def _beside_interfaces(interfaces: Mapping[str, Any], request: Mapping[str, Any]) -> None:
    for key, words in _OF_INTERFACES.items():
        if interfaces.get("NetworkInterfaces") and request.get(key):
            message = f"Network interfaces and an instance-level {words} may not be specified on the same request"
            raise CloudError("InvalidParameterCombination", message)


def _tags(specifications: list[Mapping[str, Any]]) -> None:
    for specification in specifications:
        kind, tags = specification.get("ResourceType"), specification.get("Tags") or []
        if kind not in TAGGED:
            message = f"'{kind}' is not a valid taggable resource type for this operation."
            raise CloudError("InvalidParameterValue", message)
        if len(tags) > TAGS:
            raise CloudError("TagLimitExceeded", f"The maximum number of tags on a resource is {TAGS}")
        keys = [str(tag.get("Key", "")) for tag in tags]
        if len(set(keys)) < len(keys):
            raise CloudError(
                "InvalidParameterValue", "Duplicate tag keys found. Please note that Tag keys are case insensitive."
            )
        for tag in tags:
            key, value = str(tag.get("Key", "")), str(tag.get("Value", ""))
            if not 1 <= len(key) <= KEY or key.startswith("aws:"):
                raise CloudError(
                    "InvalidParameterValue",
                    f"Tag keys starting with 'aws:' are reserved, and a key has 1 to {KEY} letters",
                )
            if len(value) > VALUE:
                raise CloudError("InvalidParameterValue", f"Tag value exceeds the maximum length of {VALUE} characters")
