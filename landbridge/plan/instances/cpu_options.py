"""CPU options of a launch: cores and threads per core of an instance type, if a pool sets its threads per core."""

from landbridge.catalog import instances
from landbridge.environment.aws.pool import PoolSettings
from landbridge.plan.args import Args


class CpuOptions(Args):
    """EC2's CpuOptions. EC2 requires both values in a launch.

    Source: EC2 User Guide, "Rules for specifying CPU options for an Amazon EC2 instance", 2026-11-25.
    """

    core_count: int
    threads_per_core: int


def cpu_options(pool: PoolSettings, instance: str) -> CpuOptions | None:
    """Return the CPU options of a pool's launches of one instance type: all its cores; None if the pool sets none.

    Raises KeyError for an unknown type.
    """
    if pool.threads_per_core is None:
        return None
    return CpuOptions(core_count=instances()[instance].cpus.cores, threads_per_core=pool.threads_per_core)
