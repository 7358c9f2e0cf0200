"""RunInstances request of a pool's nodes, for the dry run. Pure."""

from collections.abc import Sequence
from typing import Any

from landbridge.launch_parameters import cpu_options, market_options, network_interfaces, reservation_target
from landbridge.plan.args import named
from landbridge.plan.aws.pool import PoolArgs
from landbridge.plan.instances.capacity import Terms
from landbridge.plan.instances.cpu_options import CpuOptions
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
    cpus: CpuOptions | None = None,
) -> dict[str, Any]:
    """Return RunInstances' parameters for `count` nodes of one capacity in one subnet: interfaces, CPU options, market and
    reservation as the burst controller sends them; image, disk and metadata settings as in the launch template.

    `groups` are ids of security groups; without any, EC2 uses the VPC's default group. The request has no instance
    profile, which exists only after `up`.
    """
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
        **network_interfaces(
            [(nic.network_card, nic.device, nic.type) for nic in nics], subnet, groups, pool.public_ip
        ),
        "BlockDeviceMappings": [{"DeviceName": pool.root_device, "Ebs": disk}],
        "MetadataOptions": {
            "HttpTokens": "required",
            "HttpPutResponseHopLimit": pool.imds_hop_limit,
            "InstanceMetadataTags": "enabled",
        },
        "InstanceInitiatedShutdownBehavior": "terminate",
        "TagSpecifications": [{"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume")],
        **({"Placement": {"GroupName": placement_group}} if placement_group else {}),
        **cpu_options(cpus.core_count if cpus else None, cpus.threads_per_core if cpus else None),
        **market_options(terms.market.kind, terms.market.max_price_usd),
        **_reservation(terms),
    }


def _reservation(terms: Terms) -> dict[str, Any]:
    """Return the reservation of the launch, or the preference, which the launch template has."""
    market = terms.market
    if market.preference is not None and not market.reservation_group:
        return {"CapacityReservationSpecification": {"CapacityReservationPreference": market.preference}}
    return reservation_target(None if market.preference else market.reservation, market.reservation_group)
