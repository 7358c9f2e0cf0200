"""Rules about the cache of staged datasets on nodes."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import Finding, error, warning
from landbridge.rules.registry import rule

_CACHE = ("storage", "staging", "cache")


@rule
def dataset_cache_without_disk(environment: Environment) -> Iterator[Finding]:
    """A cache of datasets has a node with its own disk.

    The role dataset_cache keeps the copies on `local_scratch` of on-prem nodes and of pools.
    Source: Landbridge, docs/explanation/storage.md.
    """
    staging = environment.storage.staging
    if staging is None or staging.cache is None:
        return
    has_pools = any(pool.local_scratch for pool in environment.aws.pools)
    if not has_pools and not any(group.local_scratch for group in environment.node_groups):
        message = "no node and no pool has local_scratch, so no dataset is cached"
        yield error(
            _CACHE, message, fix="set local_scratch of nodes or of a pool, such as /scratch, or remove the cache"
        )


@rule
def dataset_cache_classes(environment: Environment) -> Iterator[Finding]:
    """Classes of `remove_after_job` exist, and are cached.

    On-prem a class is cached if its data may be there and `storage.staging.groups` has the group that reads them; in AWS if a pool
    has local_scratch and its data may be there.
    Source: Landbridge, docs/explanation/storage.md.
    """
    staging = environment.storage.staging
    if staging is None or staging.cache is None:
        return
    has_pools = any(pool.local_scratch for pool in environment.aws.pools)
    for number, name in enumerate(staging.cache.remove_after_job):
        path = (*_CACHE, "remove_after_job", number)
        known = environment.data_classes.get(name)
        if known is None:
            yield error(path, f"no data class {name} exists", fix=f"classes: {', '.join(environment.data_classes)}")
        elif not ("onprem" in known.sites and name in staging.groups) and not (has_pools and "aws" in known.sites):
            fix = "remove it, or name the group that reads the class in storage.staging.groups"
            yield warning(path, f"datasets of class {name} are never cached on nodes", fix=fix)
