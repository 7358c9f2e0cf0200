"""Nodes, image builders and training jobs that run: their description, and their end in AWS."""

import time
from collections.abc import Callable, Iterable

from landbridge import tags
from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.catalog.aws.prices import Price, price_of
from landbridge.live.sweep.leftovers import Leftover

_RUNNING_JOBS = ("InProgress", "Stopping")


def describe(leftover: Leftover) -> str:
    """Return one line: the kind, the id, and what an operator needs to decide about its end."""
    labels, instance = leftover.type.tags(leftover.item), str(leftover.item.get("InstanceType") or "")
    price = price_of("on_demand", instance, leftover.region) if instance else None
    facts = [
        *([f"pool {labels[tags.POOL]}"] if tags.POOL in labels else []),
        *([instance] if instance else []),
        *([f"{price.usd:.2f} USD/h on demand"] if isinstance(price, Price) else []),
        *([f"jobs {labels[tags.JOB]}"] if labels.get(tags.JOB) else []),
        *([f"lease until {labels[tags.LEASE_EXPIRES]}"] if labels.get(tags.LEASE_EXPIRES) else []),
    ]
    return f"{leftover.type.noun} {leftover.id} in {leftover.region}: {', '.join(facts) or 'without a pool'}"


def wait_for_end(
    connect: Callable[[], AwsClient],
    leftovers: Iterable[Leftover],
    *,
    passes: int = 180,
    pause_seconds: float = 5.0,
) -> tuple[Leftover, ...]:
    """Wait until AWS says that each has ended; return those that have not after `passes` questions.

    A network interface, and the security group on it, is free only then.
    """
    waiting = list(leftovers)
    for number in range(passes):
        connection = connect()
        waiting = [leftover for leftover in waiting if not _has_ended(connection.at(leftover.region), leftover)]
        if not waiting:
            break
        if number + 1 < passes:
            time.sleep(pause_seconds)
    return tuple(waiting)


def _has_ended(aws: AwsClient, leftover: Leftover) -> bool:
    if leftover.type.noun == "training job":
        job = aws.ask("sagemaker", "describe_training_job", TrainingJobName=leftover.id)
        return job["TrainingJobStatus"] not in _RUNNING_JOBS
    try:
        reservations = aws.ask("ec2", "describe_instances", InstanceIds=[leftover.id])["Reservations"]
    except AwsRefusal as refused:
        if "NotFound" in refused.code:
            return True
        raise
    return all(
        each["State"]["Name"] == "terminated" for reservation in reservations for each in reservation["Instances"]
    )
