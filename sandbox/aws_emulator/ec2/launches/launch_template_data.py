"""Launch template data, overridden by a request's parameters. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.aws_emulator.server.errors import CloudError


def merge_launch(template: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merged parameters: the request overrides the template; tag specifications are concatenated.

    A subnet in the request (or in a fleet's override) replaces the subnet of the template's network interfaces.
    """
    merged = {key: value for key, value in template.items() if value not in (None, "", [])}
    merged |= {
        key: value for key, value in request.items() if value not in (None, "", []) and key != "TagSpecifications"
    }
    merged["TagSpecifications"] = [*template.get("TagSpecifications", []), *request.get("TagSpecifications", [])]
    if request.get("SubnetId") and template.get("NetworkInterfaces") and not request.get("NetworkInterfaces"):
        nics = [{**nic, "SubnetId": request["SubnetId"]} for nic in template["NetworkInterfaces"]]
        merged["NetworkInterfaces"] = nics
    return merged


def tags_for(resource: str, specifications: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tags of a resource type; later specifications override earlier ones."""
    chosen = [s for s in specifications if s.get("ResourceType") == resource]
    return {tag["Key"]: tag.get("Value", "") for s in chosen for tag in s.get("Tags", [])}


def primary_interface(launch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the primary network interface (card 0, device 0), which has the instance's private address.

    Only this interface is created: the others (EFA) have no address in our templates and are not emulated.
    """
    nics = list(launch.get("NetworkInterfaces") or [])
    if not nics:
        address = {"PrivateIpAddress": launch["PrivateIpAddress"]} if launch.get("PrivateIpAddress") else {}
        return {
            "DeviceIndex": 0,
            "SubnetId": launch.get("SubnetId"),
            "Groups": list(launch.get("SecurityGroupIds") or []),
            **address,
        }
    if len(nics) > 1 and any(nic.get("AssociatePublicIpAddress") for nic in nics):
        message = "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces."
        raise CloudError("InvalidParameterCombination", message)
    places = [(int(nic.get("NetworkCardIndex") or 0), int(nic.get("DeviceIndex") or 0)) for nic in nics]
    if len(set(places)) != len(places):
        raise CloudError("InvalidParameterValue", "Two network interfaces have the same card and device index.")
    for nic, place in zip(nics, places, strict=True):
        if place == (0, 0):
            return dict(nic)
    raise CloudError("InvalidParameterCombination", "No network interface has network card index 0 and device index 0.")
