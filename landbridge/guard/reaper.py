"""Lambda function that terminates nodes with an expired lease, whether or not the site can be reached.

The tag `landbridge:lease-expires` of a node is the time until which it may run. The burst controller writes it at
launch and renews it. When the site, the link or the controller is gone, the lease is not renewed; without this function
the node would be billed until an operator finds it.

This one file is the whole Lambda function: standard library and boto3 only. `decide` is pure, and all else is thin.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

CLUSTER, POOL, LEASE = "landbridge:cluster", "landbridge:pool", "landbridge:lease-expires"
#: All nodes of an instance's launch, among which its index says which it is: for the log alone.
NODES = "landbridge:nodes"
#: What costs money, and what may yet start again and do so.
STATES = ("pending", "running", "stopping", "stopped")
#: EC2 takes more; a call that fails is repeated for each of its instances, so it is kept small.
BATCH = 100
#: Instances a page; the most that EC2 gives is 1000.
PAGE = 500
#: How far a launch may be in the future before it is this clock that is wrong.
SKEW = timedelta(minutes=5)


@dataclass(frozen=True)
class Instance:
    """An instance as EC2 describes it."""

    id: str
    launched: datetime
    tags: Mapping[str, str]
    index: int = 0


@dataclass(frozen=True)
class Limits:
    """Limits in seconds. `grace`: how long a node may run past its lease, so that a controller on its way can renew it.
    `unleased`: how long a node may run whose lease is missing or unreadable; it is reported at once.
    """

    grace: timedelta
    unleased: timedelta


@dataclass(frozen=True)
class Verdict:
    """Instances to terminate, each with the reason; and instances that an operator should look at, which run on."""

    end: Mapping[str, str]
    odd: Mapping[str, str]


class WrongClock(Exception):
    """An instance was launched in the future: this clock is wrong, and no instance is terminated by it."""


def decide(instances: Iterable[Instance], now: datetime, limits: Limits) -> Verdict:
    """Return the instances to terminate at `now`. Machines without a pool tag are no nodes and never touched.

    Raises WrongClock instead of ending anything by a clock that is behind. One that is ahead cannot be told from a lease that
    is over, which is what `grace` is for.
    """
    end: dict[str, str] = {}
    odd: dict[str, str] = {}
    for instance in instances:
        if instance.launched > now + SKEW:
            raise WrongClock(
                f"{instance.id} was launched at {instance.launched.isoformat()}, and here it is {now.isoformat()}"
            )
        if POOL not in instance.tags:
            continue
        text = instance.tags.get(LEASE, "")
        until = lease(text)
        if until is not None:
            if until + limits.grace <= now:
                end[instance.id] = f"its lease was over at {text}"
        elif instance.launched + limits.unleased <= now:
            end[instance.id] = f"no lease that can be read ({text!r}), launched at {instance.launched.isoformat()}"
        else:
            odd[instance.id] = f"no lease that can be read ({text!r})"
    return Verdict(end, odd)


def lease(text: str) -> datetime | None:
    """Return the time in a tag; None where there is none. A time without an offset is UTC, as the controller writes it."""
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def find(ec2: Any, cluster: str) -> list[Instance]:
    """Return all billed instances of the cluster, over all pages."""
    filters = [
        {"Name": f"tag:{CLUSTER}", "Values": [cluster]},
        {"Name": "instance-state-name", "Values": list(STATES)},
    ]
    pages = ec2.get_paginator("describe_instances").paginate(Filters=filters, PaginationConfig={"PageSize": PAGE})
    return [
        Instance(
            id=raw["InstanceId"],
            launched=raw["LaunchTime"],
            tags={tag["Key"]: tag["Value"] for tag in raw.get("Tags", [])},
            index=raw.get("AmiLaunchIndex", 0),
        )
        for page in pages
        for group in page["Reservations"]
        for raw in group["Instances"]
    ]


def end(ec2: Any, ids: Iterable[str]) -> dict[str, str]:
    """Terminate instances; return those that could not be terminated, with AWS's reason. An instance that is gone is no
    failure.

    EC2 ends all instances of a call or none, so a call that fails is repeated for each one.
    """
    failed: dict[str, str] = {}
    instance_ids = sorted(ids)
    for start in range(0, len(instance_ids), BATCH):
        part = instance_ids[start : start + BATCH]
        if _refused(ec2, part):
            problems = {instance_id: _refused(ec2, [instance_id]) for instance_id in part}
            failed |= {instance_id: why for instance_id, why in problems.items() if why}
    return failed


def _refused(ec2: Any, ids: list[str]) -> str:
    """Return EC2's reason for not terminating these; empty on success, or where the only one was gone."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        ec2.terminate_instances(InstanceIds=ids)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        return "" if len(ids) == 1 and code == "InvalidInstanceID.NotFound" else code
    except BotoCoreError as error:
        return type(error).__name__
    return ""


def sweep(ec2: Any, cluster: str, now: datetime, limits: Limits) -> dict[str, Any]:
    """Run one pass: find, decide, terminate. Return the log entry; `failed` lists instances that should be gone and are
    not.
    """
    instances = find(ec2, cluster)
    verdict = decide(instances, now, limits)
    failed = end(ec2, verdict.end)
    nodes = {
        instance.id: f"{instance.tags[NODES]}, number {instance.index + 1}" if NODES in instance.tags else ""
        for instance in instances
    }
    ended = {one: {"why": why, "node": nodes[one]} for one, why in verdict.end.items() if one not in failed}
    return {"cluster": cluster, "looked_at": len(instances), "ended": ended, "odd": dict(verdict.odd), "failed": failed}


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Handle a Lambda invocation. Fails at the end when an instance remains, so that the function's error metric shows
    it.
    """
    import boto3
    from botocore.config import Config

    settings = Config(retries={"mode": "standard", "total_max_attempts": 5}, connect_timeout=3, read_timeout=20)
    limits = Limits(
        grace=timedelta(minutes=int(os.environ["GRACE_MINUTES"])),
        unleased=timedelta(hours=int(os.environ["UNLEASED_HOURS"])),
    )
    # None is the function's own region. One that does not answer must not keep nodes in another.
    wrong: list[str] = []
    all_done: dict[str, Any] = {}
    for region in (None, *os.environ.get("OTHER_REGIONS", "").split()):
        try:
            ec2 = boto3.client("ec2", region_name=region, config=settings)
            done = sweep(ec2, os.environ["CLUSTER"], datetime.now(UTC), limits)
        except Exception as error:  # noqa: BLE001 - said at the end, when every region has been looked at
            wrong.append(f"{region or 'here'}: {type(error).__name__}: {error}")
            continue
        print(json.dumps({**done, **({"region": region} if region else {})}, sort_keys=True))
        all_done = _both(all_done, done)
        wrong += [f"could not end {', '.join(sorted(done['failed']))}"] if done["failed"] else []
    if wrong:
        raise RuntimeError("; ".join(wrong))
    return all_done


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Merge the log entries of two regions."""
    if not one:
        return other
    return {
        "cluster": other["cluster"],
        "looked_at": one["looked_at"] + other["looked_at"],
        **{key: {**one[key], **other[key]} for key in ("ended", "odd", "failed")},
    }
