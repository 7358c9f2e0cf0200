"""Acceptance thresholds of a pool's instances over EFA, and the pool of a node. Pure."""

from landbridge.catalog import InstanceType
from landbridge.catalog.hardware.acceptance import acceptance
from landbridge.environment import Environment, PoolSettings
from landbridge.plan.ansible.acceptance import Threshold, by_size, gb_s
from landbridge.plan.slurm.nodes import pool_node_names


def pool_of(environment: Environment, node: str) -> PoolSettings | None:
    """Return the pool of a cloud node; None for another name."""
    return next((pool for pool in environment.aws.pools if node in pool_node_names(pool)), None)


def efa_thresholds(kind: InstanceType) -> tuple[Threshold, ...]:
    """Return thresholds of all-reduce over all GPUs of two instances: bus bandwidth by message size, in GB/s.

    From AWS's published run of the type, else from the rate of its EFA devices; empty for a type without EFA.
    """
    facts = acceptance()
    run = facts.efa.runs.get(kind.name)
    if run is not None:
        source = f"{facts.efa.share} of AWS's run: {facts.efa.source}"
        return tuple(gb_s(f"busbw@{size}", value * facts.efa.share, source, "measured") for size, value in run.items())
    bound = sum(card.gbps for card in kind.cards if "efa" in card.types) / 8
    source = f"{facts.shares.fabric} of {bound:.0f} GB/s, which the EFA devices of each instance carry in a ring"
    return by_size(bound * facts.shares.fabric, source, "derived") if bound else ()
