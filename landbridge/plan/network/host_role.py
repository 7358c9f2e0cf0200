"""Roles of Ansible as the plan sees them: one module of landbridge/plan/roles for each role of ansible/roles.

A new module of that folder is found by itself. Inventory, firewall, netcheck and the security groups of nodes are loops over these roles.
"""

import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from landbridge.environment import Environment
from landbridge.plan.network.firewall_rule import FirewallRule
from landbridge.plan.network.hosts import InventoryHost, ServiceHosts
from landbridge.plan.network.service_flow import ServiceFlow

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
    hosts: tuple[InventoryHost, ...]
    outputs: "StackOutputs | None" = None

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
    nodes in AWS to its hosts; security groups permit them and netcheck tries them.
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
