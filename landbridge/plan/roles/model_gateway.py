"""Role model_gateway: HAProxy before the model servers, on one host or a pair."""

from collections.abc import Iterator
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule, without_overlaps
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.monitoring import exporter_port
from landbridge.plan.network.services.serving import (
    cloud_model_servers,
    followed_services,
    model_gateway_hosts,
    model_server_hosts,
    serving_of,
    starts_model_servers,
)
from landbridge.plan.site.prometheus_networks import prometheus_networks

#: Seconds between two polls of EC2. Landbridge's choice: a start takes about a minute.
_LOOK_SECONDS = 10


def model_instances_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of starts of model servers in AWS; empty without them."""
    from landbridge.plan.roles.hosts.roles_anywhere import instances_file

    if not starts_model_servers(environment):
        return {}
    return {
        "model_gateway_instances": {
            "cluster": environment.name,
            "region": environment.region,
            "hosts": list(cloud_model_servers(environment)),
            "seconds": _LOOK_SECONDS,
            "endpoint": aws_endpoint(environment),
            "credentials_file": instances_file(environment),
            "fips": fips_endpoints(environment, "onprem"),
        }
    }


def _variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.serving.gateway import model_gateway_variables

    return {**model_gateway_variables(site.environment), **model_instances_variables(site.environment)}


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    from landbridge.plan.serving.gateway import gateway_host_variables

    return gateway_host_variables(site.environment, host.name)


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    serving, environment = serving_of(site.environment), site.environment
    source = prometheus_networks(site)
    if source and model_gateway_hosts(environment):
        why = "Prometheus reads the model gateway's metrics"
        yield ROLE.group, tcp_rule(source, exporter_port("model_gateway"), why, to_serving=True)
    if serving is None:
        return
    gateways, followed = site.networks(serving.gateways), followed_services(environment)
    clients = tuple(map(str, serving.clients)) or (str(site.services.cidr),)
    if followed:
        # Hosts of model servers read model folders there.
        clients += site.networks(model_server_hosts(environment))
        # A gateway of a pair reads the state of the other one there.
        clients += gateways if len(gateways) > 1 else ()
    yield ROLE.group, tcp_rule(clients, serving.port, "clients reach the model gateway", to_serving=True)
    if len(gateways) > 1:
        # nft resolves the protocol's name only if /etc/protocols exists. Source: RFC 9568, section 5.1.1.4.
        yield ROLE.group, FirewallRule(gateways, "112", (), "VRRP between the two model gateways", to_serving=True)
    registries = {service.data_class for service in followed.values()}
    ports = tuple(str(each.port) for each in mlflow_servers(environment) if each.data_class in registries)
    if gateways and ports:
        why = "canaries on the model gateway follow and move aliases"
        yield "mlflow", FirewallRule(without_overlaps(gateways), "tcp", ports, why, to_serving=True)


ROLE = HostRole(
    group="model_gateway",
    place=160,
    members=lambda environment, served: model_gateway_hosts(environment),
    variables={"model_gateway": _variables},
    host_variables=_host_variables,
    firewall=_firewall,
    exporters={
        "model_drift": lambda site: serving_of(site.environment) is not None,
        "model_canary": lambda site: serving_of(site.environment) is not None,
        "model_instances": lambda site: starts_model_servers(site.environment),
    },
)
