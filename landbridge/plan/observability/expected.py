"""Recorded series of the state that alerts expect: GPUs of each node as planned, and ports and model servers that worked once. Pure."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from landbridge import hostlist
from landbridge.catalog import instances, platforms
from landbridge.environment import Environment
from landbridge.plan.network.services.monitoring import cloud_exporters

#: GPUs of each node with DCGM, as planned.
NODE_GPUS = "landbridge:node_gpus:count"
#: InfiniBand ports that were active once, and model servers that were ready once, while their targets are planned.
PORT_SEEN, SERVER_SEEN = "landbridge:infiniband_port_seen:bool", "landbridge:model_server_seen:bool"
_SEEN = {
    PORT_SEEN: ("max by (node, device, port)", "node_infiniband_state_id == 4", "node_infiniband_state_id"),
    SERVER_SEEN: ("max by (service, node)", 'up{job="model_server"} == 1', 'up{job="model_server"}'),
}


def gpu_rules(environment: Environment, gpu_hosts: Collection[str]) -> list[dict[str, Any]]:
    """Return the recording rules of the GPUs of each node, by the catalogue's numbers. `gpu_hosts`: the on-prem hosts with DCGM."""
    hosts: dict[int, list[str]] = defaultdict(list)
    for group in environment.node_groups:
        names = [host for host in hostlist.expand(group.hosts) if host in gpu_hosts]
        if names:
            hosts[platforms()[group.platform].gpus.count] += names
    pools: dict[int, list[str]] = defaultdict(list)
    for pool in environment.aws.pools:
        accelerators = instances()[pool.instance].accelerators if pool.instance in instances() else None
        if accelerators is not None and pool.name in cloud_exporters(environment).get("dcgm", ()):
            pools[accelerators.count] += [pool.name]
    selected = [(count, f'node=~"{"|".join(names)}",site!="aws"') for count, names in sorted(hosts.items())]
    selected += [(count, f'pool=~"{"|".join(names)}",site="aws"') for count, names in sorted(pools.items())]
    return [
        {"record": NODE_GPUS, "expr": f'0 * max by (node) (up{{job="dcgm",{selector}}}) + {count}'}
        for count, selector in selected
    ]


def seen_rules() -> list[dict[str, Any]]:
    """Return the recording rules of what worked once. A rule reads its own earlier values: a day without rules is bridged."""
    return [
        {
            "record": name,
            "expr": f"{by} ({active}) * 0 + 1 or last_over_time({name}[1d:10m]) and {by} ({present})",
        }
        for name, (by, active, present) in _SEEN.items()
    ]
