"""Promotion of pending on-prem jobs: partitions that a job may use too after a wait."""

from typing import NamedTuple

from landbridge.catalog import instances, platforms
from landbridge.environment import Environment
from landbridge.plan.slurm.partitions import MAIN


class PartitionPromotion(NamedTuple):
    """Jobs of `partition` that would wait longer than `seconds` on-prem may also use `partitions`."""

    partition: str
    partitions: tuple[str, ...]
    seconds: int


def promotions(environment: Environment) -> tuple[PartitionPromotion, ...]:
    """Return the promotion of `gpu` to every pool with the site's kind of accelerators; empty if jobs do not wait.

    Jobs with an explicit other partition, such as `onprem`, are not promoted.
    """
    minutes = environment.burst.wait_minutes
    if minutes is None:
        return ()
    machines, types = platforms(), instances()
    # Only the kind of accelerator is compared here: Slurm matches the job's other requests, such as the GPU model.
    kinds = {machines[group.platform].gpus.kind for group in environment.node_groups if group.platform in machines}
    names = [
        pool.name
        for pool in environment.aws.pools
        if (instance_type := types.get(pool.instance)) is not None
        and instance_type.accelerators is not None
        and instance_type.accelerators.kind in kinds
    ]
    return (PartitionPromotion(MAIN, tuple(names), 60 * minutes),) if names else ()
