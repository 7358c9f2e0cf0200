"""Parameters of a launch call: a function only of the attempt in the journal, its offering and its tags. Pure."""

from collections.abc import Mapping
from typing import Any

from landbridge.burst.model import Attempt, Offering
from landbridge.burst.model.errors import facts
from landbridge.hostlist import compress
from landbridge.launch_parameters import cpu_options, market_options, network_interfaces, reservation_target
from landbridge.tags import ACCOUNT, LAUNCH, LEASE_EXPIRES, NODES, POOL
from landbridge.timestamps import iso

#: Resource types of a launch that can be tagged, so that each has the tag of its cluster.
TAGGED_RESOURCE_TYPES = ("instance", "volume", "network-interface")


def launch_call(attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> dict[str, Any]:
    """Return the parameters of RunInstances for one attempt."""
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
        # An instance that its operating system shuts down is terminated: a stopped one would still cost its volume.
        "InstanceInitiatedShutdownBehavior": "terminate",
        "TagSpecifications": [{"ResourceType": kind, "Tags": pairs} for kind in TAGGED_RESOURCE_TYPES],
        **network_interfaces(
            [(interface.card, interface.device, interface.kind) for interface in offering.interfaces],
            offering.subnet,
            offering.security_groups,
            offering.public_ip,
        ),
        **cpu_options(offering.core_count, offering.threads_per_core),
        **market_options(offering.market, offering.max_price_usd),
        **reservation_target(offering.reservation, offering.reservation_group),
    }
    if offering.placement_group:
        call["Placement"] = {"GroupName": offering.placement_group}
    return call


def launch_tags(attempt: Attempt, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of one call: the gang's, and those by which its instances are named and found again."""
    max_length = int(facts()["calls"]["tag_value"])
    tags_of_attempt = {POOL: attempt.pool, ACCOUNT: attempt.account, LEASE_EXPIRES: iso(attempt.lease)}
    required_tags = {NODES: compress(attempt.nodes), LAUNCH: attempt.token}
    if len(required_tags[NODES]) > max_length:
        raise ValueError(f"{len(attempt.nodes)} nodes of {attempt.gang} do not fit into a tag: {required_tags[NODES]}")
    return {key: value[:max_length] for key, value in {**tags_of_attempt, **tags, **required_tags}.items() if value}
