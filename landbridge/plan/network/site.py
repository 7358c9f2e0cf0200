"""Hosts of an environment with their inventory groups."""

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.cached import cached
from landbridge.plan.network.host_role import Site, group_roles
from landbridge.plan.network.hosts import InventoryHost, ServiceHosts, service_hosts
from landbridge.plan.network.services.serving import cloud_model_servers

if TYPE_CHECKING:
    from landbridge.plan.outputs import StackOutputs


@cache
def groups() -> tuple[str, ...]:
    """Return the inventory groups below the group of all hosts, in their order."""
    return tuple(role.group for role in group_roles().values())


def top_group(environment: Environment) -> str:
    """Return the group of all hosts."""
    return "onprem" if environment.onprem is not None else "services"


def site_of(environment: Environment, outputs: "StackOutputs | None" = None) -> Site:
    """Return the hosts of an environment. Raises ValueError for a service host without an address."""
    site = _site(environment)
    return site if outputs is None else replace(site, outputs=outputs)


def hosts(environment: Environment) -> tuple[InventoryHost, ...]:
    """Return every host, services first, in the file's order.

    Raises ValueError for a service host without an address; `landbridge check` reports its position in the file.
    """
    return _site(environment).hosts


def configured_hosts(environment: Environment) -> tuple[InventoryHost, ...]:
    """Return the hosts that `landbridge configure` configures: all, or those with a role if Slurm runs already."""
    every = hosts(environment)
    return every if environment.existing_slurm is None else tuple(host for host in every if host.groups[1:])


@cached
def _site(environment: Environment) -> Site:
    served = service_hosts(environment)
    return Site(environment, served, _hosts(environment, served))


def _hosts(environment: Environment, served: ServiceHosts) -> tuple[InventoryHost, ...]:
    node_hardware = {
        name: (group.platform, group.rack) for group in environment.node_groups for name in hostlist.expand(group.hosts)
    }
    addresses = {**{name: str(address) for name, address in served.addresses.items()}, **environment.host_addresses()}
    in_aws, groups_of = cloud_model_servers(environment), _groups_by_host(environment, served)
    inventory_hosts = []
    for name in dict.fromkeys([*served.names, *node_hardware]):
        if name not in addresses:
            path = ".".join(str(part) for part in served.path)
            raise ValueError(f"host {name} has no address: add it under {path}.addresses")
        platform, rack = node_hardware.get(name, (None, None))
        of_host = (top_group(environment), *groups_of.get(name, ()))
        site = "aws" if name in in_aws else served.site
        inventory_hosts.append(InventoryHost(name, addresses[name], site, of_host, platform, rack))
    return tuple(inventory_hosts)


def _groups_by_host(environment: Environment, served: ServiceHosts) -> dict[str, list[str]]:
    """Return the groups of each host, in the groups' order."""
    by_host: dict[str, list[str]] = {}
    for role in group_roles().values():
        # Other services of a Slurm that runs already are configured by others.
        if environment.existing_slurm is None or role.beside_existing_slurm:
            for name in dict.fromkeys(role.members(environment, served)):
                by_host.setdefault(name, []).append(role.group)
    return by_host
