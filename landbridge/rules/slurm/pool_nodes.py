"""Rules about the NodeName line of a pool's nodes."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.environment.base import Scalar
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.slurm.node_settings import (
    LEAST_NUMBERS,
    MEMORY,
    RESERVED_CORES,
    RESERVED_MEMORY,
    is_number,
)
from landbridge.plan.slurm.nodes import ONPREM_WEIGHT
from landbridge.rules.environment_paths import PoolAt, pools
from landbridge.rules.registry import rule


@rule
def pool_node_number(environment: Environment) -> Iterator[Finding]:
    """RealMemory, CoreSpecCount and MemSpecLimit of a pool are whole numbers that its instance type has.

    Slurm drains a node that registers with less memory than in slurm.conf, and jobs need the cores and the memory that
    are not reserved.
    Source: slurm.conf(5), NODE CONFIGURATION.
    """
    for at in pools(environment):
        numbers: dict[str, tuple[DataPath, int]] = {}
        for name, least in LEAST_NUMBERS.items():
            key, value = _setting(at, name)
            if key is None or (value is None and least == 0):
                continue
            if is_number(value) and value >= least:
                numbers[name] = (at.at("slurm", key), value)
            else:
                message = f"{name} of {at.pool.name} is not a whole number of {least} or more"
                yield error(at.at("slurm", key), message, fix="write a number, in MiB for memory")
        if at.type is None:
            continue
        instance: tuple[DataPath, ...] = (at.at("instance"),)
        memory, cores = at.type.memory_mib, at.type.cpus.cores
        if MEMORY in numbers and numbers[MEMORY][1] > memory:
            path, value = numbers[MEMORY]
            message = f"{at.pool.instance} has {memory} MiB, less than RealMemory of {value} MiB"
            yield error(path, message, fix="write less, or remove RealMemory", related=instance)
        elif MEMORY in numbers:
            memory = numbers[MEMORY][1]
        for name, limit in ((RESERVED_CORES, cores), (RESERVED_MEMORY, memory)):
            if name in numbers and numbers[name][1] >= limit:
                path, value = numbers[name]
                unit = "cores" if name == RESERVED_CORES else "MiB"
                message = f"{name} reserves {value} of {limit} {unit}: jobs have none"
                yield error(path, message, fix="reserve less", related=(*instance, at.at("slurm")))


@rule
def pool_weight(environment: Environment) -> Iterator[Finding]:
    """The weight of a pool's nodes is above the weight of on-prem nodes.

    Slurm allocates nodes with the lowest weight first: with an equal or lower weight, jobs launch cloud nodes while
    on-prem nodes are idle.
    Source: slurm.conf(5), Weight.
    """
    if not environment.node_groups:
        return
    for at in pools(environment):
        key, value = _setting(at, "Weight")
        if key is None:
            continue
        # Slurm's own default is 1.
        weight = 1 if value is None else value
        if is_number(weight) and weight <= ONPREM_WEIGHT:
            message = f"the weight of {at.pool.name} is not above that of on-prem nodes, {ONPREM_WEIGHT}"
            related: tuple[DataPath, ...] = (("onprem", "nodes"),)
            yield warning(at.at("slurm", key), message, fix=f"write {ONPREM_WEIGHT + 1} or more", related=related)


def _setting(at: PoolAt, name: str) -> tuple[str | None, Scalar | None]:
    """Return the key of a setting as the file has it, and its value; None without the setting."""
    return next(
        ((key, value) for key, value in at.pool.slurm.items() if key.casefold() == name.casefold()), (None, None)
    )
