"""Caches of staged datasets on nodes, read from the variables of the role `dataset_cache`."""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.ops.residency.graph import ONPREM
from landbridge.plan.other_regions import other_regions
from landbridge.plan.roles.nodes.dataset_cache import cloud_dataset_cache_variables, dataset_cache_variables
from landbridge.plan.site.data_exchange import data_staging


@dataclass(frozen=True, slots=True)
class CacheForm:
    """Cached datasets of a class on the nodes of a location. `group` reads them; `readers` are the classes whose staged
    datasets the same group reads: jobs of their accounts have it.
    """

    data_class: str
    location: str
    nodes: tuple[str, ...]
    group: str
    readers: frozenset[str]


def cache_forms(environment: Environment) -> tuple[CacheForm, ...]:
    """Return the caches of the nodes: one for each class, with the group that its folder has."""
    staging = data_staging(environment)
    if staging is None:
        return ()
    nodes: dict[tuple[str, str], list[str]] = {}
    for node_group in environment.node_groups:
        for host in hostlist.expand(node_group.hosts):
            config = dataset_cache_variables(environment, host).get("dataset_cache_config", {})
            for name, settings in config.get("classes", {}).items():
                nodes.setdefault((name, settings["group"]), []).append(host)
    readers: dict[str, set[str]] = {}
    for name, group in staging.groups.items():
        readers.setdefault(group, set()).add(name)
    on_site = (
        CacheForm(name, ONPREM, tuple(hosts), group, frozenset(readers.get(group, ())))
        for (name, group), hosts in nodes.items()
    )
    return (*on_site, *_in_aws(environment))


def _in_aws(environment: Environment) -> Iterator[CacheForm]:
    """Yield the caches of pools. Their classes have no group: a job needs a role that reads the bucket."""
    for region, settings in {environment.region: environment, **other_regions(environment)}.items():
        pools = tuple(pool.name for pool in settings.aws.pools if pool.local_scratch)
        config = cloud_dataset_cache_variables(environment).get("landbridge_dataset_cache", {})
        for name in config.get("classes", {}) if pools else ():
            yield CacheForm(name, region, pools, "", frozenset())
