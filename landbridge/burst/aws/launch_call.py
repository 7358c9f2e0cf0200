"""A launch call's parameters: a function of the journalled attempt, its offering and its tags alone. Pure."""

from collections.abc import Mapping
from typing import Any

from landbridge.burst.model import Attempt, Offering
from landbridge.burst.model.errors import facts
from landbridge.hostlist import compress
from landbridge.tags import ACCOUNT, LAUNCH, LEASE_EXPIRES, NODES, POOL
from landbridge.timestamps import iso

#: Resource types of a launch that can be tagged, so that each has its cluster.
TAGGED_RESOURCE_TYPES = ("instance", "volume", "network-interface")


def launch_call(attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> dict[str, Any]:
    """RunInstances for one attempt."""
    count = len(attempt.nodes)
    pairs = [{"Key": key, "Value": value} for key, value in sorted(launch_tags(attempt, tags).items())]
    call: dict[str, Any] = {
        "ClientToken": attempt.token,
        "LaunchTemplate": {
            "LaunchTemplateId": offering.launch_template_id,
            "Version": offering.launch_template_version,
        },
        "InstanceType": offering.instance_type,
        "MinCount": count if all_or_nothing else 1,
        "MaxCount": count,
        # An instance that its own system shuts down is gone, and not stopped with its disk paid for.
        "InstanceInitiatedShutdownBehavior": "terminate",
        "TagSpecifications": [{"ResourceType": kind, "Tags": pairs} for kind in TAGGED_RESOURCE_TYPES],
        **_network(offering),
    }
    if offering.placement_group:
        call["Placement"] = {"GroupName": offering.placement_group}
    if offering.market != "on-demand":
        call["InstanceMarketOptions"] = _market(offering)
    target = {
        "CapacityReservationId": offering.reservation,
        "CapacityReservationResourceGroupArn": offering.reservation_group,
    }
    if chosen := {key: value for key, value in target.items() if value}:
        call["CapacityReservationSpecification"] = {"CapacityReservationTarget": chosen}
    return call


def launch_tags(attempt: Attempt, tags: Mapping[str, str]) -> dict[str, str]:
    """Tags of one call: the gang's, and what names its instances and finds them again."""
    most = int(facts()["calls"]["tag_value"])
    tags_of_attempt = {POOL: attempt.pool, ACCOUNT: attempt.account, LEASE_EXPIRES: iso(attempt.lease)}
    required_tags = {NODES: compress(attempt.nodes), LAUNCH: attempt.token}
    if len(required_tags[NODES]) > most:
        raise ValueError(f"{len(attempt.nodes)} nodes of {attempt.gang} do not fit into a tag: {required_tags[NODES]}")
    return {key: value[:most] for key, value in {**tags_of_attempt, **tags, **required_tags}.items() if value}


def _network(offering: Offering) -> dict[str, Any]:
    """Interfaces with their subnet; EC2 takes no subnet of the instance beside interfaces, not even a template's."""
    if not offering.interfaces:
        return {"SubnetId": offering.subnet}
    interfaces: list[dict[str, Any]] = []
    for offering_interface in offering.interfaces:
        interface: dict[str, Any] = {
            "NetworkCardIndex": offering_interface.card,
            "DeviceIndex": offering_interface.device,
            "InterfaceType": offering_interface.kind,
            "SubnetId": offering.subnet,
            "DeleteOnTermination": True,
        }
        if offering.security_groups:
            interface["Groups"] = list(offering.security_groups)
        interfaces.append(interface)
    if offering.public_ip:
        interfaces[0]["AssociatePublicIpAddress"] = True
    return {"NetworkInterfaces": interfaces}


def _market(offering: Offering) -> dict[str, Any]:
    if offering.market != "spot":
        return {"MarketType": offering.market}
    spot: dict[str, Any] = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
    if offering.max_price_usd is not None:
        spot["MaxPrice"] = f"{offering.max_price_usd:.4f}"
    return {"MarketType": "spot", "SpotOptions": spot}
