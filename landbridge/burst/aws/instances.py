"""EC2 instances: values from DescribeInstances and from their tags (cluster, node, lease). Pure."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any

from landbridge.burst.model import ActionOutcome, Attempt, CloudInstance, InstanceEnd, Market
from landbridge.hostlist import HostlistError, expand
from landbridge.tags import ACCOUNT, JOB, LAUNCH, LEASE_EXPIRES, NODE, NODES, POOL
from landbridge.timestamps import parse_iso

#: Message of a StateReason that begins with a code.
_CODED_MESSAGE = re.compile(r"((?:Client|Server)\.[\w.]+): *(.*)", re.DOTALL)
_MARKETS: Mapping[str, Market] = {"spot": "spot", "capacity-block": "capacity-block"}


def instance_of(raw: Mapping[str, Any], region: str = "") -> CloudInstance:
    """Return an instance from DescribeInstances. `region`: empty for the policy's own region.

    Texts that many instances share are kept once in memory.
    """
    tags = {tag["Key"]: tag.get("Value", "") for tag in raw.get("Tags", [])}
    return CloudInstance(
        id=raw["InstanceId"],
        node=node_of(tags, raw.get("AmiLaunchIndex", 0)),
        state=intern(raw["State"]["Name"]),
        address=raw.get("PrivateIpAddress") or "",
        subnet=intern(raw.get("SubnetId") or ""),
        type=intern(raw.get("InstanceType") or ""),
        market=_MARKETS.get(raw.get("InstanceLifecycle") or "", "on-demand"),
        launched=raw["LaunchTime"].timestamp(),
        pool=intern(tags.get(POOL, "")),
        token=intern(tags.get(LAUNCH, "")),
        jobs=tuple(int(job) for job in tags.get(JOB, "").split(",") if job.isdigit()),
        account=intern(tags.get(ACCOUNT, "")),
        lease=parse_iso(tags.get(LEASE_EXPIRES, "")),
        region=region,
    )


def end_of(raw: Mapping[str, Any]) -> InstanceEnd:
    """Return the reason for an instance's end from DescribeInstances; the code at the start of the message is more exact
    than the reason's own."""
    reason = raw.get("StateReason") or {}
    code, message = reason.get("Code") or "", reason.get("Message") or ""
    coded = _CODED_MESSAGE.fullmatch(message)
    return InstanceEnd(*coded.groups()) if coded else InstanceEnd(code, "" if message == code else message)


def node_of(tags: Mapping[str, str], index: int) -> str:
    """Return the node of an instance: from its node tag, else from its index in the host list of its launch, else
    empty."""
    if tags.get(NODE):
        return tags[NODE]
    nodes = _nodes(tags.get(NODES, ""))
    return nodes[index] if 0 <= index < len(nodes) else ""


@lru_cache(maxsize=256)
def _nodes(text: str) -> tuple[str, ...]:
    try:
        return tuple(expand(text))
    except HostlistError:
        return ()


def network_paths_of(raw: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the network path by instance id: its network nodes from the top layer to its own, joined by `/`.

    Instances of one UltraServer have the same first element, the Capacity Block id: NVLink connects them, so they stay
    together when paths are sorted. EC2 returns no network nodes of other instance types and of an instance that does
    not run.
    Source: EC2 API Reference, InstanceTopology (2026-11-25).
    """
    return {
        instance["InstanceId"]: "/".join([*([block] if (block := instance.get("CapacityBlockId")) else []), *nodes])
        for instance in raw
        if (nodes := instance.get("NetworkNodes"))
    }


def launch_outcome(raw: Iterable[Mapping[str, Any]], attempt: Attempt) -> ActionOutcome:
    """Return the outcome of a launch call: instance and address by node."""
    instances = [instance_of(instance) for instance in raw]
    launched = [instance for instance in instances if instance.node in attempt.nodes]
    return ActionOutcome(
        instances={instance.node: instance.id for instance in launched},
        addresses={instance.node: instance.address for instance in launched if instance.address},
    )
