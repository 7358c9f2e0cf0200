"""Roles of Ansible as the plan sees them: one module of landbridge/plan/roles for each role of ansible/roles.

A new module of that folder is found by itself. Inventory, firewall, netcheck and the security groups of nodes are loops over these roles.
"""

import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.cached import cached
from landbridge.plan.network.firewall_rule import FirewallRule
from landbridge.plan.network.hosts import InventoryHost, ServiceHosts, service_hosts
from landbridge.plan.network.service_flow import ServiceFlow
from landbridge.plan.network.services.serving import cloud_model_servers

if TYPE_CHECKING:
    from landbridge.plan.outputs import StackOutputs

Variables = Mapping[str, Any]
#: Keys of `variables`: every host and the images of nodes in AWS, or every host of the site. Other keys are groups.
EVERYWHERE, EVERY_HOST = "all", "every host"
#: Places of roles without a group: after those with one, by name.
_LAST = 1000
_PACKAGE = "landbridge.plan.roles"


@dataclass(frozen=True, slots=True)
class Site:
    """Hosts of an environment, computed once for all roles. `outputs` are the stack's, None before `pulumi up`."""

    environment: Environment
    services: ServiceHosts
    outputs: "StackOutputs | None" = None

    @property
    def hosts(self) -> tuple[InventoryHost, ...]:
        """Return every host, as `hosts` does."""
        return hosts(self.environment)

    def has(self, group: str) -> bool:
        """Return whether an inventory group has a host."""
        return any(group in host.groups for host in self.hosts)

    def networks(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the hosts' addresses as networks, each once, without hosts that have no address."""
        known = self.services.addresses
        return tuple(dict.fromkeys(f"{known[name]}/32" for name in names if name in known))


def _no_hosts(environment: Environment, services: ServiceHosts) -> Collection[str]:
    return ()


def _no_variables(site: Site, host: InventoryHost) -> Variables:
    return {}


def _no_connections(site: Site) -> Iterable[Any]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRole:
    """Role of ansible/roles: its inventory group with its hosts, its variables, and the connections to its hosts.

    `group`: the inventory group that the role defines; empty for none. `place`: position of the group among the groups; its first
    group is a host's label `role` in metrics. `members`: names of the group's hosts. `beside_existing_slurm`: the group exists also
    where others configure Slurm. `has_slurm_commands`: its hosts have Slurm's client commands. `variables`: by group, EVERYWHERE or EVERY_HOST. `host_variables`: of a single host, which win over those
    of groups. `firewall`: rules for incoming connections, each with the inventory group whose hosts accept them. `from_aws`: connections from
    nodes in AWS to its hosts; security groups permit them and netcheck tries them. `exporters`: names in the contract of metrics whose metrics
    programs of the role write into node exporter's text files, or node exporter copies from them, each with whether this site has it.
    """

    group: str = ""
    place: int = _LAST
    members: Callable[[Environment, ServiceHosts], Collection[str]] = _no_hosts
    beside_existing_slurm: bool = False
    has_slurm_commands: bool = False
    variables: Mapping[str, Callable[[Site], Variables]] = field(default_factory=dict)
    host_variables: Callable[[Site, InventoryHost], Variables] = _no_variables
    firewall: Callable[[Site], Iterable[tuple[str, FirewallRule]]] = _no_connections
    from_aws: Callable[[Site], Iterable[ServiceFlow]] = _no_connections
    exporters: Mapping[str, Callable[[Site], bool]] = field(default_factory=dict)


@cache
def group_roles() -> dict[str, HostRole]:
    """Return the roles that define a group by name, in the groups' order.

    Imported when they are asked for: the modules of roles import the plans below them, which ask for the groups of hosts.
    """
    package = import_module(_PACKAGE)
    modules = pkgutil.iter_modules(package.__path__, f"{_PACKAGE}.")
    return _roles(module.name for module in modules if not module.ispkg)


@cache
def host_roles() -> dict[str, HostRole]:
    """Return all roles by name: those with a group first, in the groups' order."""
    package = import_module(_PACKAGE)
    modules = pkgutil.walk_packages(package.__path__, f"{_PACKAGE}.")
    return _roles(module.name for module in modules if not module.ispkg)


def _roles(modules: Iterable[str]) -> dict[str, HostRole]:
    roles: dict[str, HostRole] = {name.rpartition(".")[2]: import_module(name).ROLE for name in modules}
    return dict(sorted(roles.items(), key=lambda item: (item[1].place, item[0])))


@cache
def groups() -> tuple[str, ...]:
    """Return the inventory groups below the group of all hosts, in their order."""
    return tuple(role.group for role in group_roles().values())


def top_group(environment: Environment) -> str:
    """Return the group of all hosts."""
    return "onprem" if environment.onprem is not None else "services"


def site_of(environment: Environment, outputs: "StackOutputs | None" = None) -> Site:
    """Return the hosts of an environment, without computing them."""
    return Site(environment, service_hosts(environment), outputs)


@cached
def hosts(environment: Environment) -> tuple[InventoryHost, ...]:
    """Return every host, services first, in the file's order.

    Raises ValueError for a service host without an address; `landbridge check` reports its position in the file.
    """
    return _hosts(environment, service_hosts(environment))


def configured_hosts(environment: Environment) -> tuple[InventoryHost, ...]:
    """Return the hosts that `landbridge configure` configures: all, or those with a role if Slurm runs already."""
    every = hosts(environment)
    return every if environment.existing_slurm is None else tuple(host for host in every if host.groups[1:])


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
