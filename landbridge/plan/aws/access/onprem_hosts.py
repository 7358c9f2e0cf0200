"""Roles for on-prem hosts, and the hosts that may assume those that not every site has."""

from typing import Literal, get_args

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.model_archive import archived_servers
from landbridge.plan.network.services.monitoring import monitoring_host, monitors_cloud_nodes
from landbridge.plan.network.services.object_store import replicated_classes
from landbridge.plan.network.services.serving import cloud_model_servers, model_gateway_hosts

OnPremRole = Literal["launch", "terminate", "read", "hub", "mover", "discovery", "serving", "archive"]
#: In creation order. The node's role is not an on-prem role.
ONPREM_ROLES: tuple[OnPremRole, ...] = get_args(OnPremRole)


def optional_hosts(environment: Environment) -> dict[OnPremRole, tuple[str, ...]]:
    """Return the hosts that find nodes for Prometheus, start hosts of model servers in AWS, and archive models."""
    hosts: dict[OnPremRole, tuple[str, ...]] = {}
    host = monitoring_host(environment)
    if host is not None and monitors_cloud_nodes(environment):
        hosts["discovery"] = (host,)
    if cloud_model_servers(environment):
        hosts["serving"] = model_gateway_hosts(environment)
    if archived_servers(environment):
        hosts["archive"] = service_hosts(environment).controllers[:1]
    return hosts


def movers(environment: Environment) -> tuple[str, ...]:
    """Return the hosts with the role `mover`: the mover of datasets, and the object store's host if it copies objects
    to AWS.
    """
    served = service_hosts(environment)
    copies_objects = served.object_store is not None and bool(replicated_classes(environment))
    hosts = (served.storage or served.mlops, *((served.object_store,) if copies_objects else ()))
    return tuple(dict.fromkeys(host for host in hosts if host is not None))
