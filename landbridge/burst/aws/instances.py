"""Instances as EC2 describes them, and what their tags say: whose they are, which node, until when. Pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from landbridge.burst.model import ActionOutcome, Attempt, CloudInstance, Market
from landbridge.hostlist import HostlistError, expand

CLUSTER, POOL, NODE, NODES = "landbridge:cluster", "landbridge:pool", "landbridge:node", "landbridge:nodes"
JOB, ACCOUNT, TOKEN, LEASE = "landbridge:job", "landbridge:account", "landbridge:launch", "landbridge:lease-expires"
_MARKETS: Mapping[str, Market] = {"spot": "spot", "capacity-block": "capacity-block"}


def instance_of(raw: Mapping[str, Any], region: str = "") -> CloudInstance:
    """An instance of DescribeInstances; its name is what `named` finds. `region`: where it is not the policy's own."""
    tags = {tag["Key"]: tag.get("Value", "") for tag in raw.get("Tags", [])}
    return CloudInstance(
        id=raw["InstanceId"],
        node=node_of(tags, raw.get("AmiLaunchIndex", 0)),
        state=raw["State"]["Name"],
        address=raw.get("PrivateIpAddress") or "",
        subnet=raw.get("SubnetId") or "",
        type=raw.get("InstanceType") or "",
        market=_MARKETS.get(raw.get("InstanceLifecycle") or "", "on-demand"),
        launched=raw["LaunchTime"].timestamp(),
        pool=tags.get(POOL, ""),
        token=tags.get(TOKEN, ""),
        jobs=tuple(int(job) for job in tags.get(JOB, "").split(",") if job.isdigit()),
        account=tags.get(ACCOUNT, ""),
        lease=lease(tags.get(LEASE, "")),
        region=region,
    )


def node_of(tags: Mapping[str, str], index: int) -> str:
    """The node that an instance is: its own tag, else its place in the list of its launch; empty where neither says."""
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


def launch_outcome(raw: Iterable[Mapping[str, Any]], attempt: Attempt) -> ActionOutcome:
    """The answer to a launch call: which node got which instance, and its address."""
    found = [instance_of(one) for one in raw]
    mine = [one for one in found if one.node in attempt.nodes]
    return ActionOutcome(
        instances={one.node: one.id for one in mine},
        addresses={one.node: one.address for one in mine if one.address},
    )


def lease(text: str) -> float | None:
    """The moment in a tag; None where there is none that can be read."""
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def lease_text(until: float) -> str:
    """The tag for a moment."""
    return datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
