"""Cache of values that several rules need, computed once for each environment. This module has no rules."""

from landbridge.catalog import instances
from landbridge.environment import Environment
from landbridge.environment.cached import cached


@cached
def with_known_types(environment: Environment) -> Environment:
    """Return the environment without pools of types that are not in the catalogue, for which no plan can be computed."""
    known_types = instances()
    pools = tuple(
        pool
        for pool in environment.aws.pools
        if pool.instance in known_types
        and all((capacity.instance or pool.instance) in known_types for capacity in pool.capacity)
    )
    if len(pools) == len(environment.aws.pools):
        return environment
    return environment.model_copy(update={"aws": environment.aws.model_copy(update={"pools": pools})})
