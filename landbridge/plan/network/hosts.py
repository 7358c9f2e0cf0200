"""Hosts of the services and nodes: addresses, site and Ansible groups.

This module handles both forms of an environment: services on-prem, or in AWS (`aws.services`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from landbridge import catalog, hostlist
from landbridge.environment import Access, CloudServices, Environment, OnPrem, SiteLustre
from landbridge.environment.base import Site
from landbridge.environment.onprem.onprem import PackageSources
from landbridge.findings import DataPath
from landbridge.plan.network.cloud_hosts import cloud_hosts, cloud_model_server_addresses
from landbridge.plan.network.link import ends_tunnels
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.network.services.log_store import log_store_host
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.network.services.pipelines import pipelines_of
from landbridge.plan.network.services.serving import (
    cloud_model_servers,
    model_gateway_hosts,
    model_server_hosts,
    serving_hosts,
)

# Inventory groups. The first contains every host (see `top_group`).
GROUPS = (
    "onprem",
    "slurm_controller",
    "slurm_database",
    "slurm_login",
    "slurm_rest",
    "slurm_node",
    "nfs_server",
    "nfs_client",
    "lustre_client",
    "site_gateway",
    "site_dns",
    "mlflow",
    "object_store",
    "monitoring",
    "log_store",
    "model_server",
    "model_gateway",
    "pipelines",
    "burst",
)


@dataclass(frozen=True, slots=True)
class ServiceHosts:
    """Hosts of each service. `cidr` is the services' network: the site's, or the range reserved for them in AWS.

    `database` is slurmdbd's host; its database may be elsewhere. `storage` (the NFS server of home directories) and
    `object_store` are None if there is none. `addresses` lacks hosts without a configured address; `path` is the services'
    path in the file.
    """

    site: Site
    path: DataPath
    cidr: IPv4Network
    domain: str
    controllers: tuple[str, ...]
    database: str
    logins: tuple[str, ...]
    mlops: str
    storage: str | None
    gateways: tuple[str, ...]
    object_store: str | None
    addresses: Mapping[str, IPv4Address]
    access: Access
    packages: PackageSources
    names: tuple[str, ...] = field(default=())

    @property
    def gateway_pair(self) -> tuple[str, ...]:
        """The hosts of two gateways; empty for one gateway or none."""
        return self.gateways if len(self.gateways) > 1 else ()

    def where(self, host: str) -> str:
        """Return a host as slurm.conf names it: with its address, because nodes in AWS have no DNS when they boot."""
        return f"{host}({self.addresses[host]})" if host in self.addresses else host


@dataclass(frozen=True, slots=True)
class InventoryHost:
    """Host that Ansible configures. `platform` is None for hosts without GPUs, `rack` for hosts without a rack."""

    name: str
    address: str
    site: str
    groups: tuple[str, ...]
    platform: str | None = None
    rack: str | None = None


def service_hosts(environment: Environment) -> ServiceHosts:
    """Return the hosts of the services, on-prem or in AWS. An environment with neither counts as one in AWS; a rule
    reports it.
    """
    if environment.onprem is not None:
        return _on_site(environment, environment.onprem)
    services = environment.aws.services
    if services is None:
        services = CloudServices(zone=next(iter(catalog.zones(environment.region)), "use1-az1"))
    return _in_aws(environment, services)


def top_group(environment: Environment) -> str:
    """Return the group of all hosts."""
    return GROUPS[0] if environment.onprem is not None else "services"


def hosts(environment: Environment) -> tuple[InventoryHost, ...]:
    """Return every host, services first, in the file's order.

    Raises ValueError for a service host without an address; `landbridge check` reports its position in the file.
    """
    served = service_hosts(environment)
    node_hardware = {
        name: (group.platform, group.rack) for group in environment.node_groups for name in hostlist.expand(group.hosts)
    }
    addresses = {**{name: str(address) for name, address in served.addresses.items()}, **environment.host_addresses()}
    in_aws = cloud_model_servers(environment)
    inventory_hosts = []
    for name in dict.fromkeys([*served.names, *node_hardware]):
        if name not in addresses:
            path = ".".join(str(part) for part in served.path)
            raise ValueError(f"host {name} has no address: add it under {path}.addresses")
        platform, rack = node_hardware.get(name, (None, None))
        groups = _groups(environment, served, name, name in node_hardware)
        site = "aws" if name in in_aws else served.site
        inventory_hosts.append(InventoryHost(name, addresses[name], site, groups, platform, rack))
    return tuple(inventory_hosts)


def configured_hosts(environment: Environment) -> tuple[InventoryHost, ...]:
    """Return the hosts that `landbridge configure` configures: all, or those with a role if Slurm runs already."""
    every = hosts(environment)
    return every if environment.existing_slurm is None else tuple(host for host in every if host.groups[1:])


def _on_site(environment: Environment, site: OnPrem) -> ServiceHosts:
    services = site.services
    has_store = environment.storage.object_store is not None and site.existing_slurm is None
    return ServiceHosts(
        site="onprem",
        path=("onprem",),
        cidr=site.cidr,
        domain=site.domain,
        controllers=services.controller,
        database=services.database,
        logins=services.login,
        mlops=services.mlops,
        storage=services.storage,
        gateways=services.gateways,
        object_store=(services.object_store or services.storage) if has_store else None,
        # Model servers in AWS are configured with the hosts of the site.
        addresses={**site.addresses, **cloud_model_server_addresses(environment)},
        access=site.access,
        packages=site.packages,
        # Nodes in AWS must resolve the nodes of a Slurm that runs already, of which the file has only the addresses.
        names=tuple(dict.fromkeys((*services.hosts(), *serving_hosts(environment))))
        if site.existing_slurm is None
        else tuple({**dict.fromkeys(services.hosts()), **site.addresses}),
    )


def _in_aws(environment: Environment, services: CloudServices) -> ServiceHosts:
    """Return the services' hosts in AWS: one instance for all services except the database (RDS) and home
    directories.
    """
    planned = cloud_hosts(environment, services)
    return ServiceHosts(
        site="aws",
        path=("aws", "services"),
        cidr=planned.reserved or environment.aws.cidr,
        domain=services.domain,
        controllers=(planned.controller,),
        database=planned.controller,
        logins=planned.logins or (planned.controller,),
        mlops=planned.controller,
        storage=None,
        gateways=(),
        object_store=None,
        addresses=planned.addresses,
        access=services.access,
        packages=services.packages,
        names=planned.names,
    )


def _groups(environment: Environment, served: ServiceHosts, name: str, is_node: bool) -> tuple[str, ...]:
    exports_homes = environment.storage.home.kind == "nfs" and name == served.storage
    runs_pipelines = name == served.mlops and pipelines_of(environment) is not None
    is_member = {
        "slurm_controller": name in served.controllers,
        "slurm_database": name == served.database,
        "slurm_login": name in served.logins,
        "slurm_rest": name == served.logins[0] and environment.scheduler.rest is not None,
        "slurm_node": is_node,
        "nfs_server": exports_homes,
        # A login host that exports the homes mounts them too, at the same path as the other hosts.
        "nfs_client": is_node or name in served.logins or runs_pipelines,
        "lustre_client": (is_node or name in served.logins)
        and any(isinstance(share, SiteLustre) for share in environment.storage.site_shares.values()),
        # Direct Connect ends at a router that Landbridge does not manage.
        "site_gateway": name in served.gateways and ends_tunnels(environment),
        "site_dns": name in name_server_hosts(environment),
        "mlflow": name == served.mlops,
        "object_store": name == served.object_store,
        "monitoring": name == monitoring_host(environment),
        "log_store": name == log_store_host(environment),
        "model_server": name in model_server_hosts(environment),
        "model_gateway": name in model_gateway_hosts(environment),
        "pipelines": runs_pipelines,
        # A standby controller runs the burst controller too; a lease decides which of the two is active.
        "burst": name in served.controllers and bool(environment.aws.pools),
    }
    # All other services of a Slurm that runs already are configured by others.
    ours = GROUPS[1:] if environment.existing_slurm is None else ("site_gateway", "site_dns", "burst")
    return (top_group(environment), *(group for group in GROUPS[1:] if group in ours and is_member[group]))
