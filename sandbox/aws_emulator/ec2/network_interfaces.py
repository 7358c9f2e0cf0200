"""Checks of a launch's network interfaces: network cards, device indexes and types, from moto's instance type data.

They use moto's data and not Landbridge's catalogue: the emulator must not share errors with the code that it tests.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

from sandbox.aws_emulator.server.errors import CloudError

KINDS = ("interface", "efa", "efa-only")


def addresses(nics: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of private addresses of an instance; an efa-only interface has none."""
    return max(1, sum(nic.get("InterfaceType", "interface") != "efa-only" for nic in nics))


def check(instance_type: str, nics: Sequence[Mapping[str, Any]]) -> None:
    """Raise EC2's error for interfaces that the instance type does not support. A type without data is accepted."""
    info = INSTANCE_TYPES.get(instance_type, {}).get("NetworkInfo")
    if info is None or not nics:
        return
    cards = {card["NetworkCardIndex"]: card for card in info["NetworkCards"]}
    used: Counter[int] = Counter()
    efa: Counter[int] = Counter()
    for nic in nics:
        card, device = int(nic.get("NetworkCardIndex") or 0), int(nic.get("DeviceIndex") or 0)
        kind = nic.get("InterfaceType") or "interface"
        if kind not in KINDS:
            raise CloudError("InvalidParameterValue", f"Value ({kind}) for parameter interfaceType is invalid.")
        if card not in cards:
            message = f"Network card index {card} is out of range for instance type {instance_type}"
            raise CloudError("InvalidParameterValue", message)
        most = cards[card]["MaximumNetworkInterfaces"]
        if device >= most:
            message = f"Device index {device} on network card {card} exceeds the limit of {most} for {instance_type}"
            raise CloudError("InvalidParameterValue", message)
        if (card, device) == (0, 0) and kind == "efa-only":
            raise CloudError("InvalidParameterCombination", "The primary network interface cannot be of type efa-only.")
        if kind != "interface":
            efa[card] += 1
            _efa(instance_type, cards[card], card, kind, info)
        if nic.get("AssociatePublicIpAddress") and kind == "efa-only":
            raise CloudError("InvalidParameterCombination", "An efa-only interface has no public IP address.")
        used[card] += 1
    for card, count in used.items():
        if count > cards[card]["MaximumNetworkInterfaces"]:
            message = f"Interface count {count} exceeds the limit for network card {card} of {instance_type}"
            raise CloudError("AttachmentLimitExceeded", message)
    for card, count in efa.items():
        if count > 1:
            message = f"Only one EFA interface can be attached to network card {card}"
            raise CloudError("AttachmentLimitExceeded", message)
    if sum(efa.values()) > info.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0):
        raise CloudError("AttachmentLimitExceeded", f"{instance_type} supports fewer EFA interfaces")


def _efa(instance_type: str, data: Mapping[str, Any], card: int, kind: str, info: Mapping[str, Any]) -> None:
    if not info.get("EfaSupported"):
        message = f"Interface type '{kind}' is not supported with instance type {instance_type}"
        raise CloudError("UnsupportedOperation", message)
    interface_types = data.get("InterfaceTypes")
    if interface_types and kind not in interface_types:
        message = f"Network card {card} of {instance_type} does not support interface type '{kind}'"
        raise CloudError("UnsupportedOperation", message)
