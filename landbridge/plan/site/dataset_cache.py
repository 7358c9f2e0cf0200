"""Cache of staged datasets on the nodes' own disks: the variables of the role `dataset_cache`."""

from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.plan.site.data_exchange import data_staging

#: Socket of the service; the role's unit creates its folder.
SOCKET = "/run/landbridge-dataset-cache/socket"
GIB = 1 << 30


def dataset_cache_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables; empty without `storage.staging.cache`, and for a node without local scratch.

    A class is cached if its data may be on-prem and a group reads it: of the others no job reads the staged copy.
    """
    staging = data_staging(environment)
    cache = None if staging is None else staging.cache
    if staging is None or cache is None:
        return {}
    for group in environment.node_groups:
        if group.local_scratch and host in hostlist.expand(group.hosts):
            classes = {
                name: {"group": reader, "keep": name not in cache.remove_after_job}
                for name, reader in sorted(staging.groups.items())
                if name in environment.data_classes and "onprem" in environment.data_classes[name].sites
            }
            return {
                "dataset_cache_mount": group.local_scratch,
                "dataset_cache_config": {
                    "root": f"{group.local_scratch.rstrip('/')}/datasets",
                    "source": staging.mount.rstrip("/"),
                    "socket": SOCKET,
                    "classes": classes,
                    "limit_bytes": cache.size_gib * GIB,
                    "workers": 8,
                    "inspection_seconds": 5,
                },
            }
    return {}
