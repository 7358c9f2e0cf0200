"""Hosts of the services: their addresses and site.

This module handles both forms of an environment: services on-prem, or in AWS (`aws.services`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from landbridge import catalog
from landbridge.environment import Access, CloudServices, Environment, OnPrem
from landbridge.environment.base import Site
from landbridge.environment.cached import cached
from landbridge.environment.onprem.onprem import PackageSources
from landbridge.findings import DataPath
from landbridge.plan.network.cloud_hosts import cloud_hosts, cloud_model_server_addresses
from landbridge.plan.network.services.serving import serving_hosts


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


@cached
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
