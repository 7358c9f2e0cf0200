"""RunInstances request of a pool's nodes, for the dry run. Pure."""

from collections.abc import Sequence
from typing import Any

from landbridge.plan.args import named
from landbridge.plan.aws.pool import PoolArgs
from landbridge.plan.instances.capacity import Terms
from landbridge.plan.instances.network_interfaces import PlannedInterface


def launch_request(
    pool: PoolArgs,
    terms: Terms,
    nics: Sequence[PlannedInterface],
    *,
    subnet: str,
    groups: Sequence[str],
    image: str,
    count: int,
    placement_group: str | None = None,
) -> dict[str, Any]:
    """Return RunInstances' parameters for `count` nodes of one capacity in one subnet: the same interfaces, disk,
    metadata settings and market as the launch template's.

    `groups` are ids of security groups; none leaves the VPC's default one. No instance profile is named: it exists only
    once the stack is built.
    """
    public = {"AssociatePublicIpAddress": True} if pool.public_ip and len(nics) == 1 else {}
    interfaces = [
        {
            "NetworkCardIndex": nic.network_card,
            "DeviceIndex": nic.device,
            "InterfaceType": nic.type,
            "SubnetId": subnet,
            "DeleteOnTermination": True,
            **({"Groups": list(groups)} if groups else {}),
            **public,
        }
        for nic in nics
    ]
    disk = {
        "VolumeSize": pool.root_volume_gib,
        "VolumeType": "gp3",
        "Iops": pool.root_volume_iops,
        "Throughput": pool.root_volume_throughput,
        "Encrypted": True,
        "DeleteOnTermination": True,
    }
    tags = [{"Key": key, "Value": value} for key, value in named(pool.tags, pool.name).items()]
    return {
        "ImageId": image,
        "InstanceType": terms.instance,
        "MinCount": count,
        "MaxCount": count,
        "NetworkInterfaces": interfaces,
        "BlockDeviceMappings": [{"DeviceName": pool.root_device, "Ebs": disk}],
        "MetadataOptions": {
            "HttpTokens": "required",
            "HttpPutResponseHopLimit": pool.imds_hop_limit,
            "InstanceMetadataTags": "enabled",
        },
        "InstanceInitiatedShutdownBehavior": "terminate",
        "TagSpecifications": [{"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume")],
        **({"Placement": {"GroupName": placement_group}} if placement_group else {}),
        **_market(terms),
    }


def _market(terms: Terms) -> dict[str, Any]:
    market, chosen = terms.market, dict[str, Any]()
    if market.kind == "spot":
        price = {"MaxPrice": str(market.max_price_usd)} if market.max_price_usd is not None else {}
        options = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate", **price}
        chosen["InstanceMarketOptions"] = {"MarketType": "spot", "SpotOptions": options}
    elif market.kind == "capacity-block":
        chosen["InstanceMarketOptions"] = {"MarketType": "capacity-block"}
    target: dict[str, str] = {}
    if market.reservation and market.preference is None:
        target = {"CapacityReservationId": market.reservation}
    elif market.reservation_group:
        target = {"CapacityReservationResourceGroupArn": market.reservation_group}
    if target:
        chosen["CapacityReservationSpecification"] = {"CapacityReservationTarget": target}
    elif market.preference:
        chosen["CapacityReservationSpecification"] = {"CapacityReservationPreference": market.preference}
    return chosen
