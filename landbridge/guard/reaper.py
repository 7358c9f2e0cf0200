"""Lambda function that terminates nodes with an expired lease, whether or not the site can be reached.

The tag `landbridge:lease-expires` of a node is the time until which it may run. The burst controller writes it at
launch and renews it. When the site, the link or the controller is not available, the lease is not renewed; without
this function the node would be billed until an operator terminates it.

This one file is the whole Lambda function: standard library and boto3 only. `decide` is a pure function.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

CLUSTER, POOL, LEASE = "landbridge:cluster", "landbridge:pool", "landbridge:lease-expires"
#: Tag with all nodes of the instance's launch; the instance is the node at its launch index. For the log only.
NODES = "landbridge:nodes"
#: States in which an instance is billed, or can start again.
STATES = ("pending", "running", "stopping", "stopped")
#: Instances in one TerminateInstances call. EC2 permits more; a call that fails is repeated for each of its instances.
BATCH = 100
#: Instances in one page; EC2's maximum is 1000.
PAGE = 500
#: A launch time further in the future than this means that this clock is wrong.
SKEW = timedelta(minutes=5)


@dataclass(frozen=True)
class Instance:
    """EC2 instance, as described by EC2."""

    id: str
    launched: datetime
    tags: Mapping[str, str]
    index: int = 0


@dataclass(frozen=True)
class Limits:
    """Time limits. `grace`: time after the end of a lease in which the controller can still renew it. `unleased`:
    maximum run time of a node whose lease is missing or unreadable; such a node is reported at once.
    """

    grace: timedelta
    unleased: timedelta


@dataclass(frozen=True)
class Verdict:
    """Instances to terminate, each with the reason; and instances that continue to run and that an operator should
    check.
    """

    end: Mapping[str, str]
    odd: Mapping[str, str]


class WrongClock(Exception):
    """Launch time in the future: this clock is wrong, and no instance is terminated."""


def decide(instances: Iterable[Instance], now: datetime, limits: Limits) -> Verdict:
    """Return the instances to terminate at `now`. Instances without a pool tag are not nodes and are ignored.

    Raises WrongClock if this clock is behind. A clock that is ahead cannot be distinguished from an expired lease:
    `grace` covers a small difference.
    """
    end: dict[str, str] = {}
    odd: dict[str, str] = {}
    for instance in instances:
        if instance.launched > now + SKEW:
            raise WrongClock(
                f"{instance.id} was launched at {instance.launched.isoformat()}, and this clock is at {now.isoformat()}"
            )
        if POOL not in instance.tags:
            continue
        text = instance.tags.get(LEASE, "")
        until = lease(text)
        if until is not None:
            if until + limits.grace <= now:
                end[instance.id] = f"its lease expired at {text}"
        elif instance.launched + limits.unleased <= now:
            end[instance.id] = f"no readable lease ({text!r}), launched at {instance.launched.isoformat()}"
        else:
            odd[instance.id] = f"no readable lease ({text!r})"
    return Verdict(end, odd)


def lease(text: str) -> datetime | None:
    """Return the time in a tag; None if it is missing or unreadable. A time without an offset is UTC, as the controller
    writes it.
    """
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def find(ec2: Any, cluster: str) -> list[Instance]:
    """Return the cluster's instances in STATES, over all pages."""
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
    """Terminate instances; return those that could not be terminated, with AWS's error code. An instance that does not
    exist is not a failure.

    EC2 terminates all instances of a call or none, so a call that fails is repeated for each one.
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
    """Return EC2's error code for terminating these; empty on success, or if the only instance does not exist."""
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
    """Run one pass: find, decide, terminate. Return the log entry; `failed` lists instances that could not be
    terminated.
    """
    instances = find(ec2, cluster)
    verdict = decide(instances, now, limits)
    failed = end(ec2, verdict.end)
    nodes = {
        instance.id: f"{instance.tags[NODES]}, number {instance.index + 1}" if NODES in instance.tags else ""
        for instance in instances
    }
    ended = {
        instance_id: {"why": why, "node": nodes[instance_id]}
        for instance_id, why in verdict.end.items()
        if instance_id not in failed
    }
    return {"cluster": cluster, "looked_at": len(instances), "ended": ended, "odd": dict(verdict.odd), "failed": failed}


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Handle a Lambda invocation. Raise RuntimeError at the end if an instance remains, so that the function's error
    metric counts it.
    """
    import boto3
    from botocore.config import Config

    settings = Config(retries={"mode": "standard", "total_max_attempts": 5}, connect_timeout=3, read_timeout=20)
    limits = Limits(
        grace=timedelta(minutes=int(os.environ["GRACE_MINUTES"])),
        unleased=timedelta(hours=int(os.environ["UNLEASED_HOURS"])),
    )
    # None is the function's own region. A region that does not answer must not prevent termination in another.
    errors: list[str] = []
    total: dict[str, Any] = {}
    for region in (None, *os.environ.get("OTHER_REGIONS", "").split()):
        try:
            ec2 = boto3.client("ec2", region_name=region, config=settings)
            entry = sweep(ec2, os.environ["CLUSTER"], datetime.now(UTC), limits)
        except Exception as error:  # noqa: BLE001 - raised at the end, after every region
            errors.append(f"{region or 'here'}: {type(error).__name__}: {error}")
            continue
        print(json.dumps({**entry, **({"region": region} if region else {})}, sort_keys=True))
        total = _merged(total, entry)
        errors += [f"could not terminate {', '.join(sorted(entry['failed']))}"] if entry["failed"] else []
    if errors:
        raise RuntimeError("; ".join(errors))
    return total


def _merged(first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Merge the log entries of two regions."""
    if not first:
        return other
    return {
        "cluster": other["cluster"],
        "looked_at": first["looked_at"] + other["looked_at"],
        **{key: {**first[key], **other[key]} for key in ("ended", "odd", "failed")},
    }
