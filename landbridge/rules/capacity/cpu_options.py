"""Rules about the CPU options of a pool's launches."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.environment_paths import pool_capacities, pools
from landbridge.rules.registry import rule


@rule
def threads_per_core(environment: Environment) -> Iterator[Finding]:
    """EC2 accepts `threads_per_core` for every instance type of the pool.

    A launch with other CPU options fails, and bare metal types accept none: their operating system can turn SMT off,
    but slurm.conf would still have all hardware threads. A warning if the valid values of a type are not recorded.
    Source: EC2 User Guide, "Rules for specifying CPU options for an Amazon EC2 instance"; valid_threads_per_core in
    landbridge/catalog/instances; ParallelCluster DisableSimultaneousMultithreadingArchitectureValidator.
    """
    for owner in pools(environment):
        threads = owner.pool.threads_per_core
        if threads is None:
            continue
        path, checked = owner.at("threads_per_core"), set[str]()
        for at in pool_capacities(owner):
            kind = at.type
            if kind is None or kind.name in checked:
                continue
            checked.add(kind.name)
            related: tuple[DataPath, ...] = (at.instance_path,)
            valid = kind.valid_threads_per_core
            if valid is None:
                message = f"the valid threads per core of {kind.name} are not recorded: EC2 may refuse {threads}"
                fix = "remove threads_per_core, or ask EC2 with `landbridge preflight`"
                yield warning(path, message, fix=fix, related=related)
            elif not valid:
                message = f"{kind.name} is bare metal, and EC2 accepts no CPU options for it"
                yield error(path, message, fix="remove threads_per_core, or use a virtual size", related=related)
            elif threads not in valid:
                message = f"{kind.name} cannot have {threads} threads per core"
                values = ", ".join(str(value) for value in valid)
                yield error(path, message, fix=f"remove threads_per_core; valid: {values}", related=related)
